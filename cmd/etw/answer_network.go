package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/internal/filter"
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
		views:   viewsOf(new(system.NetworkResult)),
		missing: "the trace has no events of the network; wpr -start Network, or the kernel flag NetworkTCPIP, record them",
		ask: func(mux *etw.Mux) answer {
			network := system.NewNetwork(mux)
			return aboutMachine(mux, func(chosen filter.Numbers) *system.NetworkResult {
				res := network.Result()
				res.Connections = slices.DeleteFunc(res.Connections, func(c system.ConnectionFacts) bool { return !chosen.Has(int64(c.PID)) })
				return res
			}, networkTotals)
		},
	}).command()
}

func networkTotals(p *page, res *system.NetworkResult) {
	sum := res.Sum()
	p.title("network")
	p.line("connections", "%d", len(res.Connections))
	p.line("sent", "%s in %s", mb(float64(sum.BytesSent)/1e6), count(sum.Sent, "packet", "packets"))
	p.line("received", "%s in %s", mb(float64(sum.BytesReceived)/1e6), count(sum.Received, "packet", "packets"))
	p.line("sent again", "%s", count(sum.Retransmits, "packet", "packets"))
	if res.Failures > 0 {
		p.line("failed", "%s", count(res.Failures, "connection", "connections"))
	}
}
