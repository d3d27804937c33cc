package dev.kureka.conformance.service;

import dev.kureka.conformance.SpringLane;
import java.io.IOException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.netflix.eureka.CloudEurekaClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An ordinary service with the Eureka starter; it answers calls with its own instance id. */
@SpringBootApplication
@RestController
public class ServiceLane {
    @Value("${eureka.instance.instance-id}")
    private String id;

    public static void main(String[] args) throws IOException {
        SpringLane.run(ServiceLane.class, CloudEurekaClient.class, args);
    }

    @GetMapping("/whoami")
    String whoami() {
        return id;
    }
}
