package dev.kureka.conformance.gateway;

import dev.kureka.conformance.SpringLane;
import java.io.IOException;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.gateway.route.RouteLocator;

/** A Spring Cloud Gateway that routes /{application}/** to the instances it finds in the registry. */
@SpringBootApplication
public class GatewayLane {
    public static void main(String[] args) throws IOException {
        SpringLane.run(GatewayLane.class, RouteLocator.class, args);
    }
}
