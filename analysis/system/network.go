package system

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/window"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Network adds up the traffic of the connections of a [Machine]. Of a [window.Window] the events
// within count.
type Network struct {
	machine     *Machine
	window      *window.Window
	connections map[endpoints]*Connection
	order       []*Connection
	failures    uint64
	told        teller.Union
	ignored     Connection
	moved       func(pid int64, atMS float64, bytes uint32)
}

// NeedsNetwork are the events of sending and receiving.
var NeedsNetwork = []need.Need{need.Network}

// OnTransfer has do called for each transfer, by the number of the process, or -1.
func (n *Network) OnTransfer(do func(pid int64, atMS float64, bytes uint32)) { n.moved = do }

// A Connection is the traffic between one process and one address by one protocol. A
// connection that is made again with the same ports is the same.
type Connection struct {
	Lifetime // from the first event to the last; the connection itself may be older
	Process  *Process
	Protocol string // tcp or udp
	Local    netip.AddrPort
	Remote   netip.AddrPort
	// Sent and Received count packets or, where the system handles them together,
	// operations.
	Sent, Received           uint64
	BytesSent, BytesReceived uint64
	Retransmits              uint64
	// Connects, Accepts and Disconnects tell how the connection came and went.
	Connects, Accepts, Disconnects uint64

	of *Network // nil of one that does not count
}

type endpoints struct {
	process       *Process
	udp           bool
	local, remote netip.AddrPort
}

// NewNetwork returns a network whose handlers are registered at mux.
func NewNetwork(mux *etw.Mux) *Network {
	n := &Network{machine: Of(mux), window: window.Of(mux), connections: make(map[endpoints]*Connection)}
	n.watchTCP(mux)
	n.watchTCP6(mux)
	n.watchUDP(mux)
	n.watchProvided(mux)
	return n
}

// All returns the connections in the order in which they came up.
func (n *Network) All() []*Connection { return n.order }

// Failures returns how many connections could not be made. The kernel does not tell
// which.
func (n *Network) Failures() uint64 { return n.failures }

// An end is one side of a connection, as events have it.
type end struct {
	address netip.Addr
	port    uint16
}

func v4(address uint32, port uint16) end {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], address)
	return end{netip.AddrFrom4(b), bits.ReverseBytes16(port)}
}

func v6(address etw.Binary, port uint16) end {
	a, _ := netip.AddrFromSlice(address)
	return end{a.Unmap(), bits.ReverseBytes16(port)}
}

// hears reports whether an event counts: no other one told the same. Its number is one of those that
// TCP has from 10 on, of IPv6 from 26 on, and UDP of events with manifests from 42 on.
func (n *Network) hears(r *etw.Record, who teller.Teller, parts ...uint64) bool {
	return n.told.Hears(who, r, teller.Key(teller.Key(parts...), uint64(r.Key().ID%16))) && n.window.HasRecord(r)
}

// at returns the connection that an event is about, or one that does not count if the event does
// not.
func (n *Network) at(r *etw.Record, who teller.Teller, udp bool, pid uint32, local, remote end) *Connection {
	at := n.machine.at(r)
	var head [8]byte // the process and the size
	copy(head[:], r.Payload)
	if !n.hears(r, who, binary.LittleEndian.Uint64(head[:]), uint64(local.port), uint64(remote.port)) {
		return &n.ignored
	}
	var p *Process
	if pid != noID {
		p = n.machine.processOf(int64(pid))
	}
	k := endpoints{p, udp, netip.AddrPortFrom(local.address, local.port), netip.AddrPortFrom(remote.address, remote.port)}
	c := n.connections[k]
	if c == nil {
		c = &Connection{of: n, Process: p, Protocol: "tcp", Local: k.local, Remote: k.remote}
		if udp {
			c.Protocol = "udp"
		}
		c.start(at)
		n.connections[k] = c
		n.order = append(n.order, c)
	}
	c.end(at)
	return c
}

func (c *Connection) send(size uint32) {
	c.Sent++
	c.BytesSent += uint64(size)
	c.move(size)
}

func (c *Connection) receive(size uint32) {
	c.Received++
	c.BytesReceived += uint64(size)
	c.move(size)
}

// move reports the bytes moved in the last event of a connection.
func (c *Connection) move(size uint32) {
	if n := c.of; n != nil && n.moved != nil {
		pid := int64(-1)
		if c.Process != nil {
			pid = c.Process.PID
		}
		n.moved(pid, n.machine.MS(c.End), size)
	}
}

func (n *Network) fail(r *etw.Record, who teller.Teller) {
	if n.hears(r, who) {
		n.failures++
	}
}

func (n *Network) watchTCP(mux *etw.Mux) {
	at := func(r *etw.Record, pid, saddr uint32, sport uint16, daddr uint32, dport uint16) *Connection {
		return n.at(r, teller.Classic, false, pid, v4(saddr, sport), v4(daddr, dport))
	}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPSend) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPRecv) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPRetransmit) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPConnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPReconnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPAccept) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPDisconnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects++
	})
	hear.On(mux, func(r *etw.Record, _ *kernel.AnyTCPIPFail) { n.fail(r, teller.Classic) })
}

func (n *Network) watchTCP6(mux *etw.Mux) {
	at := func(r *etw.Record, pid uint32, saddr etw.Binary, sport uint16, daddr etw.Binary, dport uint16) *Connection {
		return n.at(r, teller.Classic, false, pid, v6(saddr, sport), v6(daddr, dport))
	}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPSendIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPRecvIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPRetransmitIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPConnectIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPReconnectIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPAcceptIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts++
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyTCPIPDisconnectIPV6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects++
	})
}

// watchUDP adds up UDP. A received datagram has its sender as the source, unlike with TCP,
// where the source is always this side. The oldest versions do not tell the process.
func (n *Network) watchUDP(mux *etw.Mux) {
	owner := func(r *etw.Record, has bool, pid uint32) uint32 {
		if has {
			return pid
		}
		return uint32(r.ProcessID)
	}
	hear.On(mux, func(r *etw.Record, e *kernel.AnyUDPIPSend) {
		n.at(r, teller.Classic, true, owner(r, e.HasPID(), e.PID), v4(e.Saddr, e.Sport), v4(e.Daddr, e.Dport)).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyUDPIPRecv) {
		n.at(r, teller.Classic, true, owner(r, e.HasPID(), e.PID), v4(e.Daddr, e.Dport), v4(e.Saddr, e.Sport)).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyUDPIPSendIPV6) {
		n.at(r, teller.Classic, true, e.PID, v6(e.Saddr, e.Sport), v6(e.Daddr, e.Dport)).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *kernel.AnyUDPIPRecvIPV6) {
		n.at(r, teller.Classic, true, e.PID, v6(e.Daddr, e.Dport), v6(e.Saddr, e.Sport)).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, _ *kernel.AnyUDPIPFail) { n.fail(r, teller.Classic) })
}
