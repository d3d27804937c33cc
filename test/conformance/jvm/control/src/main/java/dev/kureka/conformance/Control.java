package dev.kureka.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.netflix.appinfo.InstanceInfo.InstanceStatus;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Executors;

/** The control port of a lane: the runner asks here what the client holds and tells it what to do. */
public final class Control {
    /** What a lane can do for the runner. An operation that the client has no way to do throws UnsupportedOperationException. */
    public interface Lane {
        boolean ready();

        Map<String, ?> whoami();

        Map<String, ?> registry();

        Map<String, ?> stats();

        void status(InstanceStatus status);

        /** Sets the override through the registry, or clears it when status is null. */
        void override(InstanceStatus status) throws Exception;

        void fetch() throws Exception;

        /** Ends the client in order. The process ends after it. */
        void stop();
    }

    private record Answer(int code, Object body) {
    }

    private final ObjectMapper json = new ObjectMapper();
    private final Lane lane;

    private Control(Lane lane) {
        this.lane = lane;
    }

    /** Serves a lane on the address named by LANE_CONTROL until the process ends. */
    public static void serve(Lane lane) throws IOException {
        String[] address = Settings.get("LANE_CONTROL").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 0);
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.createContext("/", new Control(lane)::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        String[] path = exchange.getRequestURI().getPath().substring(1).split("/");
        Answer answer;
        try {
            answer = answer(exchange.getRequestMethod() + " " + path[0], path.length > 1 ? path[1] : "");
        } catch (UnsupportedOperationException e) {
            answer = new Answer(501, Map.of("error", String.valueOf(e.getMessage())));
        } catch (Exception e) {
            answer = new Answer(500, Map.of("error", e.toString()));
        }
        byte[] body = json.writeValueAsBytes(answer.body);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(answer.code, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private Answer answer(String call, String argument) throws Exception {
        switch (call) {
            case "GET ready":
                boolean ready = lane.ready();
                return new Answer(ready ? 200 : 503, Map.of("ready", ready));
            case "GET whoami":
                return new Answer(200, lane.whoami());
            case "GET registry":
                return new Answer(200, lane.registry());
            case "GET stats":
                return new Answer(200, lane.stats());
            case "POST status":
                lane.status(InstanceStatus.valueOf(argument));
                break;
            case "POST override":
                lane.override(argument.equals("clear") ? null : InstanceStatus.valueOf(argument));
                break;
            case "POST fetch":
                lane.fetch();
                break;
            case "POST stop":
                new Thread(this::stop, "stop").start();
                break;
            default:
                return new Answer(404, Map.of("error", "no such call"));
        }
        return new Answer(200, Map.of());
    }

    private void stop() {
        int code = 0;
        try {
            lane.stop();
        } catch (RuntimeException e) {
            e.printStackTrace();
            code = 1;
        }
        System.exit(code);
    }
}
