// Package conformance drives real, unmodified Eureka clients against a real
// Kureka process and compares what each of them holds with what the registry
// says. It owns the contract of a lane, the processes, the taps on the wire, the
// scenes and the page docs/compatibility.md. It must not import the product: what
// it knows of Kureka is what a client can see.
//
// # A lane
//
// A lane is one client in a small program that does what an application does
// with it, and shows what the client holds. The program is started by the runner
// with these environment variables and runs until it is stopped:
//
//	KUREKA_URL          base URL of the registry, ends in a slash; each lane has one of its own, with a tap behind it
//	LANE_CLIENT         which of the clients that the program knows
//	LANE_CONTROL        loopback address (host:port) for the control server below
//	LANE_APP            application to register, in lower case
//	LANE_ID             instance id to register; clients that choose their own ignore it
//	LANE_HOST, LANE_IP  host name and address to register; nothing resolves or dials them
//	LANE_PORT           port to register, unique among all instances
//	LANE_SECURE_PORT    secure port to register, not enabled
//	LANE_VIP            vip address to register
//	LANE_METADATA       metadata to register, a JSON object of strings
//	LANE_RENEW_SECONDS  heartbeat interval
//	LANE_LEASE_SECONDS  lease duration
//	LANE_FETCH_SECONDS  fetch interval
//	LANE_DELTA          on or off
//	LANE_WATCH          applications that matter, comma separated, for clients that read by application
//
// A program whose runtime is expensive to start hosts many lanes at once: it is
// started once with LANES, a JSON array of objects that have the same names and
// values, instead of the single variables, and serves each lane on the LANE_CONTROL
// of that lane.
//
// The control server speaks HTTP/1.1 with Content-Length. Its answers:
//
//	GET  /ready              200 once the client has started
//	GET  /whoami             {"client","version","app","id"}: the version is that of the library loaded, the id the one registered
//	GET  /registry           what the client holds now, in its own decoded view, see Instance:
//	                         {"APP": {"id": {"status","ipAddr","hostName","port","securePort","vipAddress","metadata":{}}}}
//	POST /status/{STATUS}    the client's own change of status, as applications make it
//	POST /override/{STATUS}  the client asks the registry for an override, clear removes it
//	POST /fetch              fetch now
//	GET  /stats              {"full","delta","mismatches","hash"}: what the client counts itself and its hash of the registry, null where it has none
//	POST /stop               graceful shutdown: answers 200, deregisters, and the program ends with its last lane
//
// What a client cannot do is answered 501 and is declared in its Client; 500 with
// a text means that the client failed. Output goes to a log file, which the runner
// shows when the lane fails.
//
// # Adding a client
//
// Append it to the list of its family (clients_*.go). Program says how its program
// is prepared, Client what is special about it: what it registers when that differs
// from its settings, and how the registry looks through its eyes.
package conformance
