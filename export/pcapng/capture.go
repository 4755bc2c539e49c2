package pcapng

import (
	"encoding/binary"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Capture finds packets in the records of a trace.
type Capture struct {
	write   func(*Packet) error
	decoder *etw.Decoder
	open    map[place]*Packet
	stats   Stats
	packet  Packet // the one that is made at the moment
}

// Stats are counts of the outcomes of records with packets.
type Stats struct {
	Packets     int64 // written
	Dropped     int64 // of these, those that Windows dropped
	Cut         int64 // of these, those of which only the begin was recorded
	Headless    int64 // parts of packets whose first part was not recorded
	Endless     int64 // packets whose last part was not recorded
	Undescribed int64 // records whose layout the trace does not say
	Damaged     int64 // records that do not fit their layout
	Others      int64 // packets of kinds that the format does not have
}

// A place is where the parts of a packet follow each other.
type place struct {
	processor int32
	at        Interface
}

// NewCapture returns a Capture that calls write with each packet, which is valid until
// write returns. Providers are descriptions of PktMon's events, for traces that do not say
// themselves how these are laid out.
func NewCapture(write func(*Packet) error, providers ...*etw.Provider) *Capture {
	return &Capture{write: write, decoder: etw.NewDecoder(providers...), open: make(map[place]*Packet)}
}

// Stats returns the counts so far.
func (c *Capture) Stats() Stats { return c.stats }

// Record takes a record, of any provider.
func (c *Capture) Record(r *etw.Record) error {
	if r.Kind != etw.KindManifest {
		return nil
	}
	switch r.Provider {
	case NDISCapture:
		return c.ndis(r)
	case RasCapture:
		return c.ras(r)
	case PktMon:
		return c.pktmon(r)
	}
	return nil
}

// The providers of packets.
var (
	NDISCapture = etw.MustParseGUID("2ed6006e-4729-4609-b423-3ee7bcd678ef") // Microsoft-Windows-NDIS-PacketCapture
	RasCapture  = etw.MustParseGUID("d84521f7-2235-4237-a7c0-14e3a9676286") // Microsoft-Windows-Ras-NdisWanPacketCapture
	PktMon      = etw.MustParseGUID("4d4f80d9-c8bd-4d73-bb5b-19c90402c5ac") // Microsoft-Windows-PktMon
)

// Keywords of NDISCapture, of which RasCapture has the last two.
const (
	keywordWWAN     = 0x200
	keywordWiFi     = 0x10000
	keywordStart    = 0x40000000
	keywordEnd      = 0x80000000
	keywordSent     = 0x100000000
	keywordReceived = 0x200000000
)

// ndis takes a record of the driver that netsh captures with: a packet, or a part of one.
func (c *Capture) ndis(r *etw.Record) error {
	cur := etw.NewCursor(r.Payload, 0, r.PointerSize)
	cur.Uint32() // the miniport
	lower := cur.Uint32()
	name := fmt.Sprintf("eth:%d", lower)
	switch r.ID {
	case 1001:
	case 1003:
		port := cur.Uint32()
		cur.UTF16() // names of the port, the adapter and its kind
		cur.UTF16()
		cur.UTF16()
		n := cur.Uint32()
		cur.Bytes(8 * cur.Count(uint64(n), 8))
		name = fmt.Sprintf("switch:%d:%d", lower, port)
	default:
		return nil
	}
	data, ok := fragment(r.Payload, &cur)
	if !ok {
		c.stats.Damaged++
		return nil
	}
	at := Interface{name, Ethernet}
	switch {
	case r.Keywords&keywordWWAN != 0:
		at.Link = RawIP
	case r.Keywords&keywordWiFi != 0:
		at.Link = WiFi
	}
	return c.part(r, at, data)
}

// fragment returns the bytes behind a size. That is the size of the whole packet, of which
// not all needs to be there.
func fragment(payload []byte, cur *etw.Cursor) ([]byte, bool) {
	size := cur.Uint32()
	if cur.Failed() {
		return nil, false
	}
	rest := payload[cur.Offset():]
	return rest[:min(uint64(size), uint64(len(rest)))], true
}

// part takes a part of a packet. Most packets are one part, their first and last.
func (c *Capture) part(r *etw.Record, at Interface, data []byte) error {
	first, last := r.Keywords&keywordStart != 0, r.Keywords&keywordEnd != 0
	where := place{r.Processor, at}
	if first && last {
		c.begin(&c.packet, r, at, data)
		return c.finish(&c.packet)
	}
	k := c.open[where]
	switch {
	case first:
		if k != nil {
			c.stats.Endless++
		}
		k = &Packet{}
		c.begin(k, r, at, append([]byte(nil), data...))
		c.open[where] = k
	case k == nil:
		c.stats.Headless++
		return nil
	case len(k.Data)+len(data) > maxPacket:
		c.stats.Damaged++
		delete(c.open, where)
		return nil
	default:
		k.Data = append(k.Data, data...)
	}
	if !last {
		return nil
	}
	delete(c.open, where)
	return c.finish(k)
}

// maxPacket is the most that a packet of several parts has; those of networks are smaller.
const maxPacket = 1 << 20

// begin sets k to the packet that a record begins.
func (c *Capture) begin(k *Packet, r *etw.Record, at Interface, data []byte) {
	*k = Packet{Interface: at, Time: r.Clock.FileTime(r.Timestamp), Data: data}
	switch {
	case r.Keywords&keywordSent != 0:
		k.Direction = Sent
	case r.Keywords&keywordReceived != 0:
		k.Direction = Received
	}
	if r.ProcessID >= 0 {
		k.Comment = fmt.Sprintf("PID=%d TID=%d", r.ProcessID, r.ThreadID)
	}
}

// finish writes a packet.
func (c *Capture) finish(k *Packet) error {
	if k.Interface.Link == WiFi && len(k.Data) > 1 {
		k.Data = append([]byte(nil), k.Data...)
		k.Data[1] &^= 0x40 // it says that the frame is encrypted, which it is no more
	}
	k.Original = max(k.Original, originalLength(k.Interface.Link, k.Data), len(k.Data))
	c.stats.Packets++
	if k.Original > len(k.Data) {
		c.stats.Cut++
	}
	if k.Dropped {
		c.stats.Dropped++
	}
	return c.write(k)
}

// originalLength returns how long the packet was by its IP header, or 0.
func originalLength(link LinkType, data []byte) int {
	header := 0
	switch link {
	case Ethernet:
		if header = 14; len(data) < header {
			return 0
		}
		kind := binary.BigEndian.Uint16(data[12:])
		if kind != 0x0800 && kind != 0x86dd {
			return 0
		}
	case RawIP:
	default:
		return 0
	}
	ip := data[header:]
	switch {
	case len(ip) >= 4 && ip[0]>>4 == 4:
		if n := int(binary.BigEndian.Uint16(ip[2:])); n > 0 { // 0 where the adapter cuts it up
			return header + n
		}
	case len(ip) >= 6 && ip[0]>>4 == 6:
		if n := int(binary.BigEndian.Uint16(ip[4:])); n > 0 {
			return header + 40 + n
		}
	}
	return 0
}

// ras takes a record of a VPN: two texts, and a whole packet.
func (c *Capture) ras(r *etw.Record) error {
	if r.ID != 5001 && r.ID != 5002 {
		return nil
	}
	cur := etw.NewCursor(r.Payload, 0, r.PointerSize)
	domain := cur.UTF16()
	cur.UTF16() // the user
	data, ok := fragment(r.Payload, &cur)
	if !ok {
		c.stats.Damaged++
		return nil
	}
	c.begin(&c.packet, r, Interface{"ras:" + domain.String(), RawIP}, data)
	c.packet.Direction = Sent
	if r.ID == 5002 {
		c.packet.Direction = Received
	}
	return c.finish(&c.packet)
}

// End counts packets whose last part was not recorded.
func (c *Capture) End() {
	c.stats.Endless += int64(len(c.open))
	clear(c.open)
}
