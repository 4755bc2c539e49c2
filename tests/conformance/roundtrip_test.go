package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/private"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/clr/stress"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/etwtest"
)

// TestCompare checks that events are fit for go-cmp as they are: decoding an encoded event
// gives an equal event, and a changed payload a different one.
func TestCompare(t *testing.T) {
	events, differ := 0, 0
	for _, types := range [][]etw.Event{clr.Types(), rundown.Types(), private.Types(), stress.Types()} {
		for _, like := range types {
			d := like.EventDesc()
			for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
				payload := etwtest.Payload(d, ptr, 1)
				e := decode(t, like, ptr, payload)
				encoded, err := e.AppendPayload(nil, ptr)
				if err != nil {
					t.Errorf("%s: %v", d.Name, err)
					continue
				}
				if diff := cmp.Diff(e, decode(t, like, ptr, encoded)); diff != "" {
					t.Errorf("%s: differs (-want +got):\n%s", d.Name, diff)
				}
				events++
				if other := etwtest.Payload(d, ptr, 2); !cmp.Equal(e, decode(t, like, ptr, other)) {
					differ++
				}
			}
		}
	}
	if events < 2*449 {
		t.Errorf("compared %d events", events)
	}
	if differ < events/2 {
		t.Errorf("only %d of %d events differ from others", differ, events)
	}
}

func decode(t *testing.T, like etw.Event, ptr etw.PtrSize, payload []byte) etw.Event {
	t.Helper()
	e := etwtest.New(like)
	if _, err := e.DecodePayload(payload, ptr); err != nil {
		t.Errorf("%s: %v", like.EventDesc().Name, err)
	}
	return e
}
