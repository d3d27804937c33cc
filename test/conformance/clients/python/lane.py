"""One lane of test/conformance around py-eureka-client; doc.go has the contract."""

import asyncio
import importlib.metadata
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import py_eureka_client.eureka_client as eureka


def setting(name):
    return os.environ[name]


# The client is driven from one event loop, as an application would.
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


def call(coroutine):
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=60)


failures = []
client = eureka.EurekaClient(
    eureka_server=setting("KUREKA_URL"),
    app_name=setting("LANE_APP"),
    instance_id=setting("LANE_ID"),
    instance_host=setting("LANE_HOST"),
    instance_ip=setting("LANE_IP"),
    instance_port=int(setting("LANE_PORT")),
    instance_secure_port=int(setting("LANE_SECURE_PORT")),
    vip_adr=setting("LANE_VIP"),
    metadata=json.loads(setting("LANE_METADATA")),
    renewal_interval_in_secs=int(setting("LANE_RENEW_SECONDS")),
    duration_in_secs=int(setting("LANE_LEASE_SECONDS")),
    on_error=lambda kind, error: failures.append((kind, repr(error))),
)
ready = threading.Event()


def show(instance):
    return {
        "status": instance.status,
        "ipAddr": instance.ipAddr,
        "hostName": instance.hostName,
        "port": instance.port.port,
        "securePort": instance.securePort.port,
        "vipAddress": instance.vipAddress,
        "metadata": instance.metadata,
    }


def registry():
    return {
        application.name: {i.instanceId: show(i) for i in application.instances}
        for application in client.applications.applications
    }


async def override(status):
    if status == "clear":
        # status_update also changes what the client says of itself, so it is
        # told to be UP again before the override goes.
        await client.status_update("UP")
        await client.delete_status_override()
    else:
        await client.status_update(status)


class Control(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, value=None):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def guarded(self, action):
        try:
            action()
        except Exception as error:  # the runner shows it
            self.answer(500, repr(error))

    def do_GET(self):
        def act():
            if self.path == "/ready":
                self.answer(200 if ready.is_set() else 503)
            elif self.path == "/whoami":
                self.answer(200, {
                    "client": "py-eureka-client",
                    "version": importlib.metadata.version("py-eureka-client"),
                    "app": setting("LANE_APP"),
                    "id": setting("LANE_ID"),
                })
            elif self.path == "/registry":
                self.answer(200, registry())
            elif self.path == "/stats":
                self.answer(200, {"full": None, "delta": None, "mismatches": None})
            else:
                self.answer(501)
        self.guarded(act)

    def do_POST(self):
        def act():
            action, _, argument = self.path[1:].partition("/")
            if action == "status":
                call(client.register(status=argument))
            elif action == "override":
                call(override(argument))
            elif action == "stop":
                call(client.stop())
                self.answer(200)
                # The client's heartbeat thread has no end of its own.
                self.wfile.flush()
                os._exit(0)
            else:
                return self.answer(501)
            self.answer(200)
        self.guarded(act)


host, _, port = setting("LANE_CONTROL").rpartition(":")
server = ThreadingHTTPServer((host, int(port)), Control)
threading.Thread(target=server.serve_forever, daemon=False).start()
call(client.start())
if failures:
    print("starting:", failures, file=sys.stderr)
    os._exit(1)
ready.set()
