package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// pagePath is where the page stands, seen from test/conformance.
const pagePath = "../../docs/compatibility.md"

const pageHead = `<!-- Written by "make conformance" with -update. Do not edit. -->
# Compatibility

Each row is an unmodified client that runs in "make conformance" against a Kureka process, or one written from the protocol
where the client cannot be installed (*emulated*), with the strictness of the original as far as it is known. All run at the same time
and read what every other one registered: %d clients that register, %d that read.

| Column | The client |
|---|---|
| registers | is listed with its id, host name, address, ports, vip and metadata |
| renews | sends heartbeats that are answered 200 with an empty body |
| reads all others | holds exactly what the registry has: every other client's instance, its status, address, ports, vip and metadata |
| follows changes | holds exactly the same after an instance was added, changed and removed; clients that read deltas do so without one full fetch |
| emptied and refilled | the same after all instances of an application went and others came within one fetch interval |
| reads odd instances | the same with an instance in Amazon's data center and one whose metadata has keys that are no names in XML |
| twenty windows of churn | the same after random changes in each of twenty fetch windows of one second |
| hash agrees | computes the registry's hash from what it holds, and never found another than the registry's |
| own status | reports itself down and up again, and every other client sees it |
| override | stays out of service under an operator's override whatever its heartbeats say, and comes back when it is removed |
| asks for override | sets an override itself and takes it back |
| container restarts | is UP again after a preStop hook has posted OUT_OF_SERVICE to the actuator and the process was ended and started again |
| routes calls | calls the instances the registry has, and no others |
| watches health | watches the health of the instances the registry has |
| registry restarts | never holds less while the registry is killed and starts without memory, registers again after the first heartbeat that is answered 404, and ends with the whole registry |
| stops | deregisters when it shuts down, and the others see it leave |

"–" means that the client has no such function. One that does not register again by itself leaves before the registry restarts.

`

// page is docs/compatibility.md. It depends on the clients and scenes only, so a
// run writes it when everything has passed.
func page(clients []*Client, scenes []scene) []byte {
	registering, reading := 0, 0
	for _, c := range clients {
		if registers(c) {
			registering++
		}
		if reads(c) {
			reading++
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, pageHead, registering, reading)
	b.WriteString("| Client | Version | Language |")
	for _, s := range scenes {
		fmt.Fprintf(&b, " %s |", s.title)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(scenes)) + "\n")
	for _, c := range clients {
		fmt.Fprintf(&b, "| %s | %s | %s |", c.title(), c.shownVersion(), c.Family)
		for _, s := range scenes {
			mark := "yes"
			if !s.applies(c) {
				mark = "–"
			}
			fmt.Fprintf(&b, " %s |", mark)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n## Good to know\n")
	for _, c := range clients {
		for _, note := range c.Notes {
			fmt.Fprintf(&b, "- %s %s: %s\n", c.title(), c.shownVersion(), note)
		}
	}
	return b.Bytes()
}

// title is the client's name as the page shows it.
func (c *Client) title() string {
	title := c.Name
	if c.Variant != "" {
		title += " (" + c.Variant + ")"
	}
	if c.Emulated {
		title += ", *emulated*"
	}
	return title
}

func (c *Client) shownVersion() string { return cmp.Or(c.Version, c.ran) }

// asOn returns the clients with the versions of packaged ones that the page has. Those
// of another distribution are no difference.
func asOn(page string, clients []*Client) []*Client {
	clients = slices.Clone(clients)
	for i, c := range clients {
		if _, row, found := strings.Cut(page, "\n| "+c.title()+" | "); found && c.Packaged {
			packaged := *c
			packaged.ran, _, _ = strings.Cut(row, " |")
			clients[i] = &packaged
		}
	}
	return clients
}
