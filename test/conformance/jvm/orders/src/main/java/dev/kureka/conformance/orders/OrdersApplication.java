package dev.kureka.conformance.orders;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A service whose health is that of what it depends on, besides what Spring makes part of it. */
@SpringBootApplication
@RestController
public class OrdersApplication {
    public static void main(String[] args) {
        SpringApplication.run(OrdersApplication.class, args);
    }

    /** Answers with the pod's name, after as long as a small query takes. */
    @GetMapping("/orders")
    String orders(@Value("${POD_NAME}") String pod) throws InterruptedException {
        Thread.sleep(20);
        return pod;
    }

    /** Shown as "stock". */
    @Bean
    HealthIndicator stockHealthIndicator(@Value("${orders.stock}") URI stock) {
        HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        HttpRequest request = HttpRequest.newBuilder(stock).timeout(Duration.ofSeconds(2)).build();
        return () -> {
            try {
                int code = client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
                return (code == 200 ? Health.up() : Health.down()).withDetail("answer", code).build();
            } catch (Exception e) {
                return Health.down(e).build();
            }
        };
    }
}
