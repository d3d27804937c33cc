package dev.kureka.conformance;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.EurekaClientConfig;
import com.netflix.discovery.Jersey3DiscoveryClientOptionalArgs;
import com.netflix.discovery.shared.transport.jersey3.Jersey3TransportClientFactories;

/** A client 2.x with Jersey 3. */
final class Transport {
    private Transport() {
    }

    static DiscoveryClient client(ApplicationInfoManager self, EurekaClientConfig config) {
        return new DiscoveryClient(self, config, Jersey3TransportClientFactories.getInstance(),
            new Jersey3DiscoveryClientOptionalArgs());
    }
}
