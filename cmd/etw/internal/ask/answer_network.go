package ask

import (
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewNetwork returns the command that shows connections.
func NewNetwork() *Question {
	return &Question{
		name:  "network",
		short: "Show traffic, by connection",
		Long: `Network shows the traffic of processes by TCP and UDP: packets or, where the
system handles several at once, operations, bytes, and retransmissions.

The rows are connections, or by --by: processes, or addresses of the other
side.`,
		example: `  etw network machine.etl
  etw network --by remote --top 10 machine.etl
  etw network --process app.exe --format csv machine.etl
  etw network --format json machine.etl | jq '.connections[].remote'`,
		next:  []show.Suggestion{show.Next("etw processes", "which processes there are")},
		views: viewsOf(new(system.NetworkResult)),
		Needs: system.NeedsNetwork,
		ask: func(mux *etw.Mux) answer {
			network := system.NewNetwork(mux)
			return aboutMachine(mux, func(is chosen) *system.NetworkResult {
				res := network.Result()
				res.Connections = order.Delete(res.Connections, func(c system.ConnectionFacts) bool { return !is(int64(c.PID), c.Process) })
				return res
			}, networkTotals)
		},
	}
}

func networkTotals(p *page, res *system.NetworkResult) {
	sum := res.Sum()
	p.title("network")
	p.line("connections", "%d", len(res.Connections))
	p.line("sent", "%s in %s", show.Size(float64(sum.BytesSent)), show.Count(sum.Sent, "packet", "packets"))
	p.line("received", "%s in %s", show.Size(float64(sum.BytesReceived)), show.Count(sum.Received, "packet", "packets"))
	p.line("sent again", "%s", show.Count(sum.Retransmits, "packet", "packets"))
	if res.Failures > 0 {
		p.line("failed", "%s", show.Count(res.Failures, "connection", "connections"))
	}
}
