package system

import (
	"net/netip"
)

// A NetworkResult is the traffic of the network.
type NetworkResult struct {
	Schema      int               `json:"schema"`
	Connections []ConnectionFacts `json:"connections"`
	// Failures counts connections that could not be made.
	Failures uint64 `json:"failures"`
}

// ConnectionFacts are the traffic of a connection.
type ConnectionFacts struct {
	PID      ID             `json:"pid,omitzero"`
	Process  string         `json:"process,omitempty"`
	Protocol string         `json:"protocol"` // tcp or udp
	Local    netip.AddrPort `json:"local"`
	Remote   netip.AddrPort `json:"remote"`
	// FirstMS and LastMS are the times of the first and last event of it.
	FirstMS float64 `json:"firstMs"`
	LastMS  float64 `json:"lastMs"`
	// Sent and Received count packets or, where the system handles several at once,
	// operations.
	Sent          uint64 `json:"sent"`
	BytesSent     uint64 `json:"bytesSent"`
	Received      uint64 `json:"received"`
	BytesReceived uint64 `json:"bytesReceived"`
	Retransmits   uint64 `json:"retransmits"`
	Connects      uint64 `json:"connects"`
	Accepts       uint64 `json:"accepts"`
	Disconnects   uint64 `json:"disconnects"`
}

// Result returns the findings so far, in the order in which connections came up. It shares
// no memory that changes with n.
func (n *Network) Result() *NetworkResult {
	r := &NetworkResult{Schema: Schema, Connections: []ConnectionFacts{}, Failures: n.failures}
	for _, c := range n.order {
		f := ConnectionFacts{Protocol: c.Protocol, Local: c.Local, Remote: c.Remote,
			FirstMS: n.machine.since(c.Start), LastMS: n.machine.since(c.End), Sent: c.Sent, BytesSent: c.BytesSent,
			Received: c.Received, BytesReceived: c.BytesReceived, Retransmits: c.Retransmits,
			Connects: c.Connects, Accepts: c.Accepts, Disconnects: c.Disconnects}
		f.PID, f.Process = c.Process.label()
		r.Connections = append(r.Connections, f)
	}
	return r
}
