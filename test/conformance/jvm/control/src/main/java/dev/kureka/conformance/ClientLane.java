package dev.kureka.conformance;

import com.netflix.appinfo.ApplicationInfoManager;
import com.netflix.appinfo.InstanceInfo;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.netflix.discovery.DiscoveryClient;
import com.netflix.discovery.shared.Application;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;

/**
 * A lane around a DiscoveryClient, which is also what Spring's client is. It reads what the client
 * holds and never changes how the client works.
 */
public abstract class ClientLane implements Control.Lane {
    private final DiscoveryClient client;
    private final ApplicationInfoManager self;
    private final Class<?> library;

    /** The version is that of the library that holds the given class. */
    protected ClientLane(DiscoveryClient client, ApplicationInfoManager self, Class<?> library) {
        this.client = client;
        this.self = self;
        this.library = library;
    }

    /** Ready means that the client has once fetched the registry and knows itself as registered. */
    @Override
    public boolean ready() {
        return client.getApplications().getAppsHashCode() != null
            && client.getInstanceRemoteStatus() != InstanceStatus.UNKNOWN;
    }

    @Override
    public Map<String, ?> whoami() {
        InstanceInfo info = self.getInfo();
        Package loaded = library.getPackage();
        return Map.of("client", loaded.getName(), "version", String.valueOf(loaded.getImplementationVersion()),
            "app", info.getAppName(), "id", info.getId());
    }

    /** All instances as they came, also those that the client would not hand to a caller because they are not UP. */
    @Override
    public Map<String, ?> registry() {
        Map<String, Map<String, ?>> apps = new TreeMap<>();
        for (Application app : client.getApplications().getRegisteredApplications()) {
            Map<String, Object> instances = new TreeMap<>();
            for (InstanceInfo info : app.getInstancesAsIsFromEureka()) {
                instances.put(info.getId(), view(info));
            }
            apps.put(app.getName(), instances);
        }
        return apps;
    }

    private static Map<String, ?> view(InstanceInfo info) {
        Map<String, Object> view = new TreeMap<>();
        view.put("status", info.getStatus().name());
        view.put("hostName", info.getHostName());
        view.put("ipAddr", info.getIPAddr());
        view.put("port", info.getPort());
        view.put("securePort", info.getSecurePort());
        view.put("vipAddress", info.getVIPAddress());
        view.put("metadata", info.getMetadata());
        return view;
    }

    /** The client counts mismatches itself; its fetches are counted by who receives them. */
    @Override
    public Map<String, ?> stats() {
        Map<String, Object> stats = new TreeMap<>();
        stats.put("full", null);
        stats.put("delta", null);
        stats.put("mismatches", mismatches());
        stats.put("hash", client.getApplications().getReconcileHashCode());
        return stats;
    }

    @Override
    public void status(InstanceStatus status) {
        self.setInstanceStatus(status);
    }

    @Override
    public void override(InstanceStatus status) throws Exception {
        throw new UnsupportedOperationException("this client sets no override");
    }

    @Override
    public void fetch() throws Exception {
        Method refresh = DiscoveryClient.class.getDeclaredMethod("refreshRegistry");
        refresh.setAccessible(true);
        refresh.invoke(client);
    }

    /** The counter's own method is count in clients 2.x and getValue in 1.x, as it comes from different libraries. */
    private Number mismatches() {
        try {
            Field field = DiscoveryClient.class.getDeclaredField("RECONCILE_HASH_CODES_MISMATCH");
            field.setAccessible(true);
            Object counter = field.get(client);
            for (String name : new String[] {"count", "getValue"}) {
                for (Method method : counter.getClass().getMethods()) {
                    if (method.getName().equals(name) && method.getParameterCount() == 0) {
                        method.setAccessible(true);
                        return (Number) method.invoke(counter);
                    }
                }
            }
            return null;
        } catch (NoSuchFieldException | IllegalAccessException | InvocationTargetException e) {
            return null;
        }
    }
}
