package main

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newNetwork returns the command that shows connections.
func newNetwork() *cobra.Command {
	return (&question{
		name:  "network",
		short: "Show what was sent and received, by connection",
		long: `Network shows what processes sent and received by TCP and UDP: packets or, where the
system handles several at once, operations, bytes, and what had to be sent again.

The rows are connections, or what --by says: processes, or addresses of the other
side.`,
		example: `  etw network machine.etl
  etw network --by remote --top 10 machine.etl
  etw network --process app.exe --format csv machine.etl
  etw network --format json machine.etl | jq '.connections[].remote'`,
		views:   []string{"connection", "process", "remote"},
		missing: "the trace has no events of the network; wpr -start Network, or the kernel flag NetworkTCPIP, record them",
		ask: func(mux *etw.Mux) answer {
			return &networkAnswer{machine: newMachine(mux), network: system.NewNetwork(mux)}
		},
	}).command()
}

type networkAnswer struct {
	machine
	network *system.Network
	res     *system.NetworkResult
}

func (a *networkAnswer) take() bool {
	a.res = a.network.Result()
	a.res.Connections = slices.DeleteFunc(a.res.Connections, func(c system.ConnectionFacts) bool { return !a.chosen.Has(int64(c.PID)) })
	return len(a.res.Connections) > 0
}

func (a *networkAnswer) result() any        { return a.res }
func (a *networkAnswer) warnings() []string { return a.doubts() }

func (a *networkAnswer) totals(p *page) {
	var sum system.ConnectionFacts
	for i := range a.res.Connections {
		addConnection(&sum, &a.res.Connections[i])
	}
	p.title("network")
	p.line("connections", "%d", len(a.res.Connections))
	p.line("sent", "%s in %s", mb(float64(sum.BytesSent)/1e6), count(sum.Sent, "packet", "packets"))
	p.line("received", "%s in %s", mb(float64(sum.BytesReceived)/1e6), count(sum.Received, "packet", "packets"))
	p.line("sent again", "%s", count(sum.Retransmits, "packet", "packets"))
	if a.res.Failures > 0 {
		p.line("failed", "%s", count(a.res.Failures, "connection", "connections"))
	}
}

func addConnection(sum, c *system.ConnectionFacts) {
	if sum.Sent+sum.Received+sum.Retransmits+sum.Connects+sum.Accepts+sum.Disconnects == 0 {
		sum.FirstMS, sum.LastMS = c.FirstMS, c.LastMS
	}
	sum.FirstMS, sum.LastMS = min(sum.FirstMS, c.FirstMS), max(sum.LastMS, c.LastMS)
	sum.Sent += c.Sent
	sum.BytesSent += c.BytesSent
	sum.Received += c.Received
	sum.BytesReceived += c.BytesReceived
	sum.Retransmits += c.Retransmits
	sum.Connects += c.Connects
	sum.Accepts += c.Accepts
	sum.Disconnects += c.Disconnects
}

func (a *networkAnswer) table(view string, _ *names) *table {
	type key struct {
		pid           system.ID
		process       string
		protocol      string
		local, remote netip.AddrPort
		address       netip.Addr
	}
	groups := make(map[key]*system.ConnectionFacts)
	var order []key
	for i := range a.res.Connections {
		c := &a.res.Connections[i]
		var k key
		switch view {
		case "process":
			k = key{pid: c.PID, process: c.Process}
		case "remote":
			k = key{address: c.Remote.Addr()}
		default:
			k = key{c.PID, c.Process, c.Protocol, c.Local, c.Remote, netip.Addr{}}
		}
		if groups[k] == nil {
			groups[k] = new(system.ConnectionFacts)
			order = append(order, k)
		}
		addConnection(groups[k], c)
	}
	bytes := func(k key) uint64 { return groups[k].BytesSent + groups[k].BytesReceived }
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(bytes(b), bytes(a)) })
	t := newTable(idColumn("pid"), label("process"), label("protocol"), label("local"), label("remote"), label("address"),
		counted("sent"), counted("bytesSent"), counted("received"), counted("bytesReceived"), counted("retransmits"),
		counted("connects"), counted("accepts"), counted("disconnects"), moment("firstMs"), moment("lastMs"))
	for _, k := range order {
		c := groups[k]
		t.add(unlessNegative(k.pid), k.process, k.protocol, k.local.String(), k.remote.String(), k.address.String(),
			whole(c.Sent), whole(c.BytesSent), whole(c.Received), whole(c.BytesReceived), whole(c.Retransmits),
			whole(c.Connects), whole(c.Accepts), whole(c.Disconnects), exact(c.FirstMS), exact(c.LastMS))
	}
	t.without(view != "connection", "protocol", "local", "remote").without(view != "remote", "address").without(view == "remote", "pid", "process")
	return t.unlessEmpty("connects", "accepts", "disconnects")
}
