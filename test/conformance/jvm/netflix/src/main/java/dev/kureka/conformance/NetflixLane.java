package dev.kureka.conformance;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.appinfo.MyDataCenterInstanceConfig;
import com.netflix.appinfo.providers.EurekaConfigBasedInstanceInfoProvider;
import com.netflix.discovery.DefaultEurekaClientConfig;
import com.netflix.discovery.DiscoveryClient;
import java.io.IOException;
import java.util.Map;

/** A lane around Netflix' own client, configured by its properties. How a client is made differs between 1.x and 2.x. */
public final class NetflixLane extends ClientLane {
    private final DiscoveryClient client;

    private NetflixLane(DiscoveryClient client, ApplicationInfoManager self) {
        super(client, self, DiscoveryClient.class);
        this.client = client;
    }

    public static void main(String[] args) throws IOException {
        Counters.keep();
        configure();
        MyDataCenterInstanceConfig config = new Instance();
        InstanceInfo info = new EurekaConfigBasedInstanceInfoProvider(config).get();
        ApplicationInfoManager self = new ApplicationInfoManager(config, info);
        DiscoveryClient client = Transport.client(self, new DefaultEurekaClientConfig());
        // The application has started.
        self.setInstanceStatus(InstanceStatus.UP);
        Control.serve(new NetflixLane(client, self));
    }

    private static void configure() {
        Map.ofEntries(
            Map.entry("serviceUrl.default", Settings.get("KUREKA_URL")),
            Map.entry("shouldUseDns", "false"),
            Map.entry("preferSameZone", "false"),
            Map.entry("name", Settings.get("LANE_APP")),
            Map.entry("instanceId", Settings.get("LANE_ID")),
            Map.entry("port", Settings.get("LANE_PORT")),
            Map.entry("securePort", Settings.get("LANE_SECURE_PORT")),
            Map.entry("vipAddress", Settings.get("LANE_VIP")),
            Map.entry("lease.renewalInterval", Settings.get("LANE_RENEW_SECONDS")),
            Map.entry("lease.duration", Settings.get("LANE_LEASE_SECONDS")),
            Map.entry("client.refresh.interval", Settings.get("LANE_FETCH_SECONDS")),
            Map.entry("appinfo.replicate.interval", Settings.get("LANE_RENEW_SECONDS")),
            Map.entry("appinfo.initial.replicate.time", Settings.get("LANE_RENEW_SECONDS")),
            Map.entry("disableDelta", String.valueOf(!Settings.deltas()))
        ).forEach((name, value) -> System.setProperty("eureka." + name, value));
    }

    @Override
    public void stop() {
        client.shutdown();
    }

    /** What the client would otherwise learn from the machine. */
    private static final class Instance extends MyDataCenterInstanceConfig {
        @Override
        public String getHostName(boolean refresh) {
            return Settings.get("LANE_HOST");
        }

        @Override
        public String getIpAddress() {
            return Settings.get("LANE_IP");
        }

        @Override
        public Map<String, String> getMetadataMap() {
            return Settings.metadata();
        }
    }
}
