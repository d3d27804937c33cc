package dev.kureka.conformance;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.discovery.EurekaClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.cloud.util.ProxyUtils;
import org.springframework.context.ConfigurableApplicationContext;

/** A lane around the client of a Spring Boot application that is configured as users configure theirs. */
public final class SpringLane extends ClientLane {
    private final ConfigurableApplicationContext context;

    private SpringLane(ConfigurableApplicationContext context, Class<?> library) {
        super(ProxyUtils.getTargetObject(context.getBean(EurekaClient.class)), context.getBean(ApplicationInfoManager.class), library);
        this.context = context;
    }

    /**
     * Starts an application and serves its client to the runner. The client's kind is the profile, and
     * the version is that of the library that holds the given class.
     */
    public static void run(Class<?> type, Class<?> library, String... args) throws IOException {
        Counters.keep();
        SpringApplication application = new SpringApplication(type);
        application.setAdditionalProfiles(Settings.get("LANE_CLIENT"));
        Map<String, Object> properties = new HashMap<>();
        properties.put("eureka.client.disable-delta", !Settings.deltas());
        Settings.metadata().forEach((key, value) -> properties.put("eureka.instance.metadata-map[" + key + "]", value));
        application.setDefaultProperties(properties);
        Control.serve(new SpringLane(application.run(args), library));
    }

    /** As an operator or a preStop hook does it: through the actuator, which asks the registry. */
    @Override
    public void override(InstanceStatus status) throws Exception {
        String body = "{\"status\":\"" + (status == null ? "CANCEL_OVERRIDE" : status) + "\"}";
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + "/actuator/serviceregistry"))
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() / 100 != 2) {
            throw new IOException("the actuator answered " + response.statusCode() + " " + response.body());
        }
    }

    /** Where the application itself listens is of interest for those that do something with what they know. */
    @Override
    public Map<String, ?> whoami() {
        Map<String, Object> self = new HashMap<>(super.whoami());
        self.put("serves", "http://127.0.0.1:" + port());
        return self;
    }

    private String port() {
        return context.getEnvironment().getRequiredProperty("local.server.port");
    }

    @Override
    public void stop() {
        context.close();
    }
}
