package dev.kureka.conformance;

import com.netflix.spectator.api.DefaultRegistry;
import com.netflix.spectator.api.Spectator;

/** Clients 2.x count into a global registry that keeps nothing until it is given a place to keep it. */
public final class Counters {
    private Counters() {
    }

    /** Must be called before the client is made. Counters of clients 1.x are objects of their own and need nothing. */
    public static void keep() {
        try {
            Class.forName("com.netflix.spectator.api.Spectator");
        } catch (ClassNotFoundException e) {
            return;
        }
        Registry.add();
    }

    /** A class of its own, so that it is not loaded where the library is not. */
    private static final class Registry {
        static void add() {
            Spectator.globalRegistry().add(new DefaultRegistry());
        }
    }
}
