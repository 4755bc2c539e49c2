package pcapng_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/etwgen/etwgen/export/pcapng"
	"github.com/etwgen/etwgen/runtime/etw"
)

// seen returns the packets of records, and the counts.
func seen(t *testing.T, records []*etw.Record, providers ...*etw.Provider) ([]pcapng.Packet, pcapng.Stats) {
	t.Helper()
	var all []pcapng.Packet
	c := pcapng.NewCapture(func(p *pcapng.Packet) error {
		k := *p
		k.Data = bytes.Clone(p.Data)
		all = append(all, k)
		return nil
	}, providers...)
	for _, r := range records {
		if err := c.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	c.End()
	return all, c.Stats()
}

// TestParts has packets of which parts are missing: they are counted, and no part goes to
// another packet.
func TestParts(t *testing.T) {
	c := &recording{t: t}
	data := []byte{1, 2, 3, 4}
	part := func(keywords uint64) { c.add(pcapng.NDISCapture, 1001, 0, keywords, 5, ndis(1, 8, data)) }
	part(end)         // of a packet that began before the recording
	part(0)           // so does this
	part(start)       // its end is missing
	part(start)       // another one
	part(0)           // its middle
	part(start | end) // a whole one in between, which another layer logs
	part(end)         // its end
	part(start)       // and one that does not end
	all, stats := seen(t, c.records)
	if len(all) != 2 || len(all[0].Data) != 4 || len(all[1].Data) != 12 {
		t.Errorf("%+v", all)
	}
	if want := (pcapng.Stats{Packets: 2, Headless: 2, Endless: 2}); stats != want {
		t.Errorf("%+v, not %+v", stats, want)
	}
}

// TestDamaged gives payloads that are cut off at each place.
func TestDamaged(t *testing.T) {
	for _, whole := range [][]byte{ndis(1, 60, make([]byte, 60)), vmswitch(1, 2, make([]byte, 60)), ras("office", make([]byte, 60))} {
		for id, provider := range map[uint16]etw.GUID{1001: pcapng.NDISCapture, 1003: pcapng.NDISCapture, 5001: pcapng.RasCapture} {
			for n := range len(whole) {
				c := &recording{t: t}
				c.add(provider, id, 0, start|end, 5, whole[:n])
				if all, stats := seen(t, c.records); stats.Packets+stats.Damaged != 1 || int64(len(all)) != stats.Packets {
					t.Errorf("event %d, %d bytes: %+v", id, n, stats)
				}
			}
		}
	}
}

// TestWiFi has a frame that was decrypted: it does not say any more that it is encrypted,
// and the trace is as it was.
func TestWiFi(t *testing.T) {
	c := &recording{t: t}
	frame := []byte{0x88, 0x41, 0, 0}
	c.add(pcapng.NDISCapture, 1001, 0, start|end|0x10000, 5, ndis(1, 4, frame))
	all, _ := seen(t, c.records)
	if len(all) != 1 || all[0].Interface.Link != pcapng.WiFi || !bytes.Equal(all[0].Data, []byte{0x88, 0x01, 0, 0}) {
		t.Errorf("%+v", all)
	}
	if p := c.records[0].Payload; p[len(p)-3] != 0x41 {
		t.Error("the record was changed")
	}
}

// pktmonDesc describes an event of PktMon with some of its fields, which came and went.
func pktmonDesc(id uint16, names ...string) *etw.EventDesc {
	d := &etw.EventDesc{Provider: &etw.ProviderDesc{GUID: pcapng.PktMon, Name: "Microsoft-Windows-PktMon"}, ID: id, Name: "Packet"}
	for i, name := range names {
		f := etw.FieldDesc{Name: name, Type: etw.InUInt16}
		switch name {
		case "PktGroupId":
			f.Type = etw.InUInt64
		case "Payload":
			f.Type, f.Length = etw.InBinary, etw.Size{Kind: etw.SizeField, N: uint32(i - 1)}
		}
		d.Fields = append(d.Fields, f)
	}
	return d
}

// TestPktMon has events of two releases, of which the fields differ.
func TestPktMon(t *testing.T) {
	frame := udp(rand.New(rand.NewPCG(3, 4)), 300)
	little := binary.LittleEndian
	older := little.AppendUint16(nil, 3)                   // ComponentId
	older = little.AppendUint16(older, 1)                  // PacketType
	older = little.AppendUint16(older, 60)                 // LoggedPayloadSize
	newer := little.AppendUint64(nil, 1970324836974593)    // PktGroupId
	newer = little.AppendUint16(newer, 2)                  // PktNumber
	newer = little.AppendUint16(newer, 4)                  // DirTag
	newer = little.AppendUint16(newer, 1)                  // PacketType
	newer = little.AppendUint16(newer, 49)                 // ComponentId
	newer = little.AppendUint16(newer, 11)                 // DropReason
	newer = little.AppendUint16(newer, uint16(len(frame))) // OriginalPayloadSize
	newer = little.AppendUint16(newer, 60)                 // LoggedPayloadSize
	descs := []*etw.EventDesc{
		pktmonDesc(160, "ComponentId", "PacketType", "LoggedPayloadSize", "Payload"),
		pktmonDesc(170, "PktGroupId", "PktNumber", "DirTag", "PacketType", "ComponentId", "DropReason", "OriginalPayloadSize", "LoggedPayloadSize", "Payload"),
		pktmonDesc(160, "ComponentId", "PacketType", "LoggedPayloadSize", "Payload"),
	}
	http := append([]byte(nil), older...)
	http[2] = 4 // no frame, but a request
	c := &recording{t: t}
	for i, p := range [][]byte{older, newer, http} {
		c.add(pcapng.PktMon, descs[i].ID, 0, 0, 8, append(p, frame[:60]...))
		c.records[i].Schema = descs[i]
	}
	c.add(pcapng.PktMon, 160, 0, 0, 8, append(older, frame[:60]...)) // no schema
	c.add(pcapng.PktMon, 160, 0, 0, 8, older[:5])                    // cut off
	c.records[4].Schema = descs[0]
	all, stats := seen(t, c.records)
	if want := (pcapng.Stats{Packets: 2, Dropped: 1, Cut: 2, Others: 1, Undescribed: 1, Damaged: 1}); stats != want {
		t.Errorf("%+v, not %+v", stats, want)
	}
	at := func(i int) etw.FileTime { return c.clock.FileTime(c.records[i].Timestamp) }
	want := []pcapng.Packet{
		{Interface: pcapng.Interface{Name: "component:3", Link: pcapng.Ethernet}, Time: at(0), Data: frame[:60], Original: len(frame), Comment: "PID=8 TID=9"},
		{
			Interface: pcapng.Interface{Name: "component:49", Link: pcapng.Ethernet}, Time: at(1), Data: frame[:60], Original: len(frame), Direction: pcapng.Sent,
			ID: 1970324836974593, Dropped: true, Comment: "PID=8 TID=9 packet 2 of its group dropped, reason 11",
		},
	}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("%+v\nnot %+v", all, want)
	}
	provider := &etw.Provider{Desc: descs[0].Provider, Events: descs[:1]}
	c.records[3].Schema = nil
	if all, _ := seen(t, c.records[3:4], provider); len(all) != 1 {
		t.Errorf("with a manifest: %d packets", len(all))
	}
}

// FuzzCapture gives any payload to each event.
func FuzzCapture(f *testing.F) {
	f.Add(uint16(1001), uint64(start|end), ndis(1, 60, make([]byte, 60)))
	f.Add(uint16(1003), uint64(start), vmswitch(1, 2, make([]byte, 60)))
	f.Add(uint16(5002), uint64(received), ras("office", make([]byte, 60)))
	f.Fuzz(func(t *testing.T, id uint16, keywords uint64, payload []byte) {
		w := pcapng.NewWriter(io.Discard)
		c := pcapng.NewCapture(func(p *pcapng.Packet) error {
			if len(p.Data) > len(payload) && len(p.Data) > 3*len(payload) || p.Original < len(p.Data) {
				t.Errorf("%d bytes of %d, out of a payload of %d", len(p.Data), p.Original, len(payload))
			}
			return w.Packet(p)
		})
		clock := etw.Clock{}
		for _, provider := range []etw.GUID{pcapng.NDISCapture, pcapng.RasCapture, pcapng.PktMon} {
			for _, parts := range []uint64{keywords, keywords | start, keywords | end} {
				r := etw.Record{Kind: etw.KindManifest, Provider: provider, ID: id, Keywords: parts, PointerSize: etw.Ptr64, Clock: &clock, Payload: payload}
				if err := c.Record(&r); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.End()
	})
}
