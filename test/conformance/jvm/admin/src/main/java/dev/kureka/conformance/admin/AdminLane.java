package dev.kureka.conformance.admin;

import de.codecentric.boot.admin.server.cloud.discovery.InstanceDiscoveryListener;
import de.codecentric.boot.admin.server.config.EnableAdminServer;
import dev.kureka.conformance.SpringLane;
import java.io.IOException;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A Spring Boot Admin server that finds what it watches in the registry. */
@SpringBootApplication
@EnableAdminServer
public class AdminLane {
    public static void main(String[] args) throws IOException {
        SpringLane.run(AdminLane.class, InstanceDiscoveryListener.class, args);
    }
}
