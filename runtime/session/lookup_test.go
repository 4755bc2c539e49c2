package session

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// eventInfo returns a TRACE_EVENT_INFO of an event with one number as its field.
func eventInfo(provider etw.GUID, id uint16, version uint8, name, field string) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0x70+24)
	copy(b, provider[:])
	le.PutUint16(b[32:], id)
	b[34] = version
	le.PutUint32(b[52:], uint32(len(b))) // the name of the provider
	b = append(etw.AppendUTF16(b, name), 0, 0)
	le.PutUint32(b[0x64:], 1) // fields, and those that are no part of others
	le.PutUint32(b[0x68:], 1)
	le.PutUint32(b[0x70+4:], uint32(len(b)))
	b = append(etw.AppendUTF16(b, field), 0, 0)
	le.PutUint16(b[0x70+8:], 8) // TDH_INTYPE_UINT32
	le.PutUint16(b[0x70+16:], 1)
	le.PutUint16(b[0x70+18:], 4)
	return b
}

// TestLookup has Windows describe an event, and asks once of each kind.
func TestLookup(t *testing.T) {
	for _, on := range []bool{false, true} {
		f := install(t)
		f.infos = map[uint16][]byte{7: eventInfo(testProvider, 7, 1, "Contoso-Drivers ", "Queue "), 8: []byte("damaged")}
		s := begin(t, Config{Name: "lookup", Consumption: Consumption{Lookup: on}})
		go func() {
			for range 3 {
				for id := uint16(7); id <= 9; id++ {
					f.session("lookup").items <- fakeItem{event: newEvent(&etw.Record{Provider: testProvider, ID: id, Version: 1, PointerSize: etw.Ptr64, Payload: []byte{5, 0, 0, 0}})}
				}
			}
			s.Stop(context.Background())
		}()
		described := 0
		for r := range testio.Records(t, s.Records()) {
			if r.Schema == nil {
				continue
			}
			described++
			if d := r.Schema; d.ID != 7 || len(d.Fields) != 1 || d.Fields[0].Name != "Queue" || d.Fields[0].Type != etw.InUInt32 || r.ProviderName != "Contoso-Drivers" {
				t.Errorf("%+v of %s", d, r.ProviderName)
			}
		}
		want, asked := 0, 0
		if on {
			want, asked = 3, 2+2+1 // the size and the description, or that there is none
		}
		if described != want || f.asked != asked {
			t.Errorf("%d are described, want %d; asked %d times, want %d", described, want, f.asked, asked)
		}
	}
}
