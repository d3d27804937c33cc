package dev.kureka.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;

/** What the runner tells a lane, by the names of its environment. */
public final class Settings {
    private Settings() {
    }

    /** Fails when the runner left it out. */
    public static String get(String name) {
        String value = System.getenv(name);
        if (value == null) {
            throw new IllegalStateException(name + " is not set");
        }
        return value;
    }

    public static boolean deltas() {
        return get("LANE_DELTA").equals("on");
    }

    public static Map<String, String> metadata() {
        try {
            return new ObjectMapper().readValue(get("LANE_METADATA"), new TypeReference<>() {
            });
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("reading LANE_METADATA", e);
        }
    }
}
