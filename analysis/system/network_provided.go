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
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPSend) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPReceive) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPRetransmit) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPConnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPReconnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPAccept) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPDisconnect) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects)
	})
	etw.Handle(mux, func(_ *etw.Record, _ *network.AnyTCPFail) error { return n.fail(teller.Provided) })
	etw.Handle(mux, func(_ *etw.Record, _ *network.AnyUDPFail) error { return n.fail(teller.Provided) })
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUDPSend) error {
		return n.at(r, teller.Provided, true, e.PID, v4(e.Saddr, e.Sport), v4(e.Daddr, e.Dport)).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUDPReceive) error {
		return n.at(r, teller.Provided, true, e.PID, v4(e.Daddr, e.Dport), v4(e.Saddr, e.Sport)).receive(e.Size)
	})
	n.watchProvided6(mux)
}

func (n *Network) watchProvided6(mux *etw.Mux) {
	at := func(r *etw.Record, pid uint32, saddr etw.Binary, sport uint16, daddr etw.Binary, dport uint16) *Connection {
		return n.at(r, teller.Provided, false, pid, v6(saddr, sport), v6(daddr, dport))
	}
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPSendIPv6) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPReceiveIPv6) error {
		return at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPRetransmitIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPConnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPReconnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPAcceptIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyTCPDisconnectIPv6) error {
		return count(&at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUDPSendIPv6) error {
		return n.at(r, teller.Provided, true, e.PID, v6(e.Saddr, e.Sport), v6(e.Daddr, e.Dport)).send(e.Size)
	})
	etw.Handle(mux, func(r *etw.Record, e *network.AnyUDPReceiveIPv6) error {
		return n.at(r, teller.Provided, true, e.PID, v6(e.Daddr, e.Dport), v6(e.Saddr, e.Sport)).receive(e.Size)
	})
}
