package windows

import (
	"encoding/binary"

	"github.com/etwgen/etwgen/generated/internal/keywords"
	"github.com/etwgen/etwgen/generated/windows/auditing"
	"github.com/etwgen/etwgen/generated/windows/defender"
	"github.com/etwgen/etwgen/generated/windows/disk"
	"github.com/etwgen/etwgen/generated/windows/dns"
	"github.com/etwgen/etwgen/generated/windows/file"
	"github.com/etwgen/etwgen/generated/windows/httpsys"
	"github.com/etwgen/etwgen/generated/windows/network"
	"github.com/etwgen/etwgen/generated/windows/power"
	"github.com/etwgen/etwgen/generated/windows/powershell"
	"github.com/etwgen/etwgen/generated/windows/process"
	"github.com/etwgen/etwgen/generated/windows/registry"
	"github.com/etwgen/etwgen/generated/windows/scheduler"
	"github.com/etwgen/etwgen/generated/windows/tcpip"
	"github.com/etwgen/etwgen/generated/windows/wininet"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Providers are all of them.
var Providers = []*etw.Provider{
	process.Provider, network.Provider, file.Provider, disk.Provider,
	registry.Provider, power.Provider, dns.Provider, tcpip.Provider, httpsys.Provider,
	wininet.Provider, powershell.Provider, auditing.Provider, scheduler.Provider, defender.Provider,
}

// ParseKeywords returns a parser of names and masks of the keywords of one of them.
func ParseKeywords(p *etw.Provider) func(list string) (uint64, error) {
	return func(list string) (uint64, error) { return keywords.Parse[uint64](p, nil, list) }
}

// Subject returns the process that a record is about: of one of the network or of
// processes the one that it names, of any other the one that it is of.
func Subject(r *etw.Record) int64 {
	if r.Kind != etw.KindManifest {
		return r.ProcessID
	}
	at := 0
	switch r.Provider {
	case network.Provider.Desc.GUID:
		if r.ID == tcpFail || r.ID == udpFail {
			return r.ProcessID
		}
	case process.Provider.Desc.GUID:
		switch {
		case r.ID == imageLoad || r.ID == imageUnload: // base and size come before
			at = 2 * r.PointerSize.Bytes()
		case r.ID > lastOfProcesses && r.ID != rundown:
			return r.ProcessID
		}
	default:
		return r.ProcessID
	}
	if len(r.Payload) < at+4 {
		return r.ProcessID
	}
	return int64(binary.LittleEndian.Uint32(r.Payload[at:]))
}

// The events that name their process elsewhere, or none.
var (
	tcpFail         = new(network.TCPFail).EventDesc().ID
	udpFail         = new(network.UDPFail).EventDesc().ID
	imageLoad       = new(process.ImageLoad).EventDesc().ID
	imageUnload     = new(process.ImageUnload).EventDesc().ID
	lastOfProcesses = new(process.FreezeStop).EventDesc().ID
	rundown         = new(process.Rundown).EventDesc().ID
)
