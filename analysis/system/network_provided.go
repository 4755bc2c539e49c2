package system

import (
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/runtime/etw"
)

// watchProvided adds up the events of the network that have manifests.
func (n *Network) watchProvided(mux *etw.Mux) {
	at := func(r *etw.Record, pid, saddr uint32, sport uint16, daddr uint32, dport uint16) *Connection {
		return n.at(r, teller.Provided, false, pid, v4(saddr, sport), v4(daddr, dport))
	}
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpSend) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpReceive) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpRetransmit) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpConnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpReconnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpAccept) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpDisconnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects)
	})
	etw.Handle(mux, func(_ *etw.Record, _ *network.AnyTcpFail) error { return n.fail(teller.Provided) })
	etw.Handle(mux, func(_ *etw.Record, _ *network.AnyUdpFail) error { return n.fail(teller.Provided) })
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUdpSend) error {
		return n.at(r, teller.Provided, true, e.PID, v4(e.Saddr, e.Sport), v4(e.Daddr, e.Dport)).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUdpReceive) error {
		return n.at(r, teller.Provided, true, e.PID, v4(e.Daddr, e.Dport), v4(e.Saddr, e.Sport)).receive(e.Size)
	})
	n.watchProvided6(mux)
}

func (n *Network) watchProvided6(mux *etw.Mux) {
	at := func(r *etw.Record, pid uint32, saddr etw.Binary, sport uint16, daddr etw.Binary, dport uint16) *Connection {
		return n.at(r, teller.Provided, false, pid, v6(saddr, sport), v6(daddr, dport))
	}
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpSendIPv6) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpReceiveIPv6) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpRetransmitIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpConnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpReconnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpAcceptIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTcpDisconnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUdpSendIPv6) error {
		return n.at(r, teller.Provided, true, e.PID, v6(e.Saddr, e.Sport), v6(e.Daddr, e.Dport)).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUdpReceiveIPv6) error {
		return n.at(r, teller.Provided, true, e.PID, v6(e.Daddr, e.Dport), v6(e.Saddr, e.Sport)).receive(e.Size)
	})
}
