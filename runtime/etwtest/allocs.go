package etwtest

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// runs is how often something runs whose allocations are counted.
const runs = 10

// Allocs checks, for every event and both sizes of pointers, that decoding,
// encoding into a buffer with room and finding the type of a record allocate
// nothing.
func Allocs(t testing.TB, types ...etw.Event) {
	t.Helper()
	all := &etw.Provider{Desc: &etw.ProviderDesc{}}
	for _, e := range types {
		all.Events = append(all.Events, e.EventDesc())
	}
	decoder := etw.NewDecoder(all).Typed(types...)
	for _, e := range types {
		d := e.EventDesc()
		for _, ptr := range ptrSizes {
			r := record(d, ptr)
			b := make([]byte, 0, len(r.Payload))
			none(t, label(d, ptr), "decoding", func() (err error) { _, err = e.DecodePayload(r.Payload, ptr); return err })
			none(t, label(d, ptr), "encoding", func() (err error) { _, err = e.AppendPayload(b, ptr); return err })
			none(t, label(d, ptr), "decoding by a Decoder", func() (err error) { _, err = decoder.Decode(r); return err })
		}
	}
}

// AllocsOf checks that dispatching an event to a handler of the generated type E
// allocates nothing, in any version that E takes. The handler calls iterate, unless
// that is nil, which must not allocate either.
func AllocsOf[E any, P interface {
	*E
	etw.Described
}](t testing.TB, iterate func(P)) {
	t.Helper()
	var mux etw.Mux
	var last P
	calls := 0
	etw.Handle(&mux, func(_ *etw.Record, e P) error {
		last = e
		calls++
		if iterate != nil {
			iterate(e)
		}
		return nil
	})
	descs := []*etw.EventDesc{P(new(E)).EventDesc()}
	if e, ok := any(P(new(E))).(etw.AnyVersion); ok {
		descs = etw.Versions(e)
	}
	for _, d := range descs {
		for _, ptr := range ptrSizes {
			r := record(d, ptr)
			calls = 0
			none(t, label(d, ptr), "dispatch", func() error { return mux.Dispatch(r) })
			if calls == 0 {
				t.Errorf("%s: not dispatched: %v", label(d, ptr), mux.Stats().FirstError)
			} else if got := last.EventDesc(); got != d {
				t.Errorf("%s: dispatched as version %d", label(d, ptr), got.Version)
			}
		}
	}
}

// AllocsOfVersions checks that types which take all versions of an event decode each of them
// without allocating.
func AllocsOfVersions(t testing.TB, anys ...etw.AnyVersion) {
	t.Helper()
	for _, e := range anys {
		for _, d := range etw.Versions(e) {
			for _, ptr := range ptrSizes {
				p := record(d, ptr).Payload
				none(t, label(d, ptr), "decoding as any version", func() (err error) { _, err = e.DecodeVersion(d.Version, p, ptr); return err })
			}
		}
	}
}

// none checks that f allocates nothing, and does all that it is to do.
func none(t testing.TB, event, what string, f func() error) {
	t.Helper()
	var failed error
	n := testing.AllocsPerRun(runs, func() {
		if err := f(); err != nil {
			failed = err
		}
	})
	switch {
	case failed != nil:
		t.Errorf("%s: %s: %v", event, what, failed)
	case n != 0:
		t.Errorf("%s: %s allocates %v times", event, what, n)
	}
}

// record returns a record of an event, with a payload that has some of
// everything.
func record(d *etw.EventDesc, ptr etw.PtrSize) *etw.Record {
	k := d.Key()
	rec := &etw.Record{
		Kind:        k.Kind,
		Provider:    k.Provider,
		ID:          k.ID,
		Version:     k.Version,
		Opcode:      d.Opcode,
		PointerSize: ptr,
		Payload:     Payload(d, ptr, 3),
	}
	if d.Named { // the trace names it, and its id is any
		rec.ID, rec.Schema = ^k.ID, d
	}
	return rec
}
