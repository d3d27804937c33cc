package dev.kureka.conformance;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.EurekaClientConfig;

/** A client 1.x, which has Jersey 1 built in. */
final class Transport {
    private Transport() {
    }

    static DiscoveryClient client(ApplicationInfoManager self, EurekaClientConfig config) {
        return new DiscoveryClient(self, config);
    }
}
