package system

import (
	"github.com/etwgen/etwgen/analysis/internal/hear"
	"github.com/etwgen/etwgen/analysis/internal/teller"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/runtime/etw"
)

// watchProvided adds up the events of the network that have manifests.
func (n *Network) watchProvided(mux *etw.Mux) {
	at := func(r *etw.Record, pid, saddr uint32, sport uint16, daddr uint32, dport uint16) *Connection {
		return n.at(r, teller.Provided, false, pid, v4(saddr, sport), v4(daddr, dport))
	}
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPSend) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPReceive) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPRetransmit) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPConnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPReconnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPAccept) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPDisconnect) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects++
	})
	hear.On(mux, func(r *etw.Record, _ *network.AnyTCPFail) { n.fail(r, teller.Provided) })
	hear.On(mux, func(r *etw.Record, _ *network.AnyUDPFail) { n.fail(r, teller.Provided) })
	hear.On(mux, func(r *etw.Record, e *network.AnyUDPSend) {
		n.at(r, teller.Provided, true, e.PID, v4(e.Saddr, e.Sport), v4(e.Daddr, e.Dport)).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyUDPReceive) {
		n.at(r, teller.Provided, true, e.PID, v4(e.Daddr, e.Dport), v4(e.Saddr, e.Sport)).receive(e.Size)
	})
	n.watchProvided6(mux)
}

func (n *Network) watchProvided6(mux *etw.Mux) {
	at := func(r *etw.Record, pid uint32, saddr etw.Binary, sport uint16, daddr etw.Binary, dport uint16) *Connection {
		return n.at(r, teller.Provided, false, pid, v6(saddr, sport), v6(daddr, dport))
	}
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPSendIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPReceiveIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).receive(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPRetransmitIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Retransmits++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPConnectIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPReconnectIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Connects++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPAcceptIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Accepts++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyTCPDisconnectIPv6) {
		at(r, e.PID, e.Saddr, e.Sport, e.Daddr, e.Dport).Disconnects++
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyUDPSendIPv6) {
		n.at(r, teller.Provided, true, e.PID, v6(e.Saddr, e.Sport), v6(e.Daddr, e.Dport)).send(e.Size)
	})
	hear.On(mux, func(r *etw.Record, e *network.AnyUDPReceiveIPv6) {
		n.at(r, teller.Provided, true, e.PID, v6(e.Daddr, e.Dport), v6(e.Saddr, e.Sport)).receive(e.Size)
	})
}
