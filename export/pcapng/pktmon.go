package pcapng

import (
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The events of PktMon that have a packet.
const (
	pktmonPacket = 160
	pktmonDrop   = 170
)

// pktmonLinks are the kinds of packets that PktMon tells apart, by the field PacketType.
var pktmonLinks = map[uint64]LinkType{1: Ethernet, 2: WiFi, 3: RawIP}

// pktmon takes a record of PktMon. Its events grew from release to release, so that the
// trace has to say how they are laid out.
func (c *Capture) pktmon(r *etw.Record) error {
	if r.ID != pktmonPacket && r.ID != pktmonDrop {
		return nil
	}
	if d := c.decoder.Event(r).Desc; d == nil || len(d.Fields) == 0 {
		c.stats.Undescribed++
		return nil
	}
	values, err := c.decoder.Decode(r)
	if err != nil {
		c.stats.Damaged++
		return nil
	}
	payload, ok := etw.Field(values, "Payload")
	if !ok {
		c.stats.Undescribed++
		return nil
	}
	link, ok := pktmonLinks[number(values, "PacketType")]
	if !ok {
		c.stats.Others++
		return nil
	}
	data := payload.Bytes()
	if logged := number(values, "LoggedPayloadSize"); logged > 0 && logged < uint64(len(data)) {
		data = data[:logged]
	}
	k := &c.packet
	c.begin(k, r, Interface{fmt.Sprintf("component:%d", number(values, "ComponentId")), link}, data)
	k.Direction = direction(values)
	k.ID = number(values, "PktGroupId")
	k.Original = int(min(number(values, "OriginalPayloadSize"), 1<<30))
	k.Dropped = r.ID == pktmonDrop
	if n := number(values, "PktNumber"); n > 1 {
		k.Comment += fmt.Sprintf(" packet %d of its group", n)
	}
	if k.Dropped {
		k.Comment += fmt.Sprintf(" dropped, reason %d", number(values, "DropReason"))
	}
	return c.finish(k)
}

// direction returns the direction of a packet, for which PktMon has three words each: in, rx
// and ingress have odd numbers, out, tx and egress even ones.
func direction(values etw.Described) Direction {
	tag := max(number(values, "DirTag"), number(values, "DirectionName"))
	switch {
	case tag == 0 || tag > 6:
		return Unknown
	case tag%2 == 1:
		return Received
	}
	return Sent
}

// number returns a field of whole numbers, or 0 if the event has none of this name.
func number(values etw.Described, name string) uint64 {
	v, ok := etw.Field(values, name)
	if !ok {
		return 0
	}
	switch v.Kind() {
	case etw.ValueUint:
		return v.Uint()
	case etw.ValueInt:
		return uint64(max(v.Int(), 0))
	}
	return 0
}
