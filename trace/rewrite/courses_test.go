package rewrite

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestCourses: of .NET and of recorders of Linux those records stay beyond a part that tell of what goes
// over its ends.
func TestCourses(t *testing.T) {
	net := func(at int64, thread int64, id uint16, words ...uint64) *etw.Record {
		r := &etw.Record{Kind: etw.KindManifest, Provider: clrProvider, ID: id, Timestamp: at, ThreadID: thread, ProcessID: 7, PointerSize: etw.Ptr64}
		for _, w := range words {
			r.Payload = binary.LittleEndian.AppendUint64(r.Payload, w)
		}
		return r
	}
	collects := func(at, thread int64, id uint16, words ...uint64) *etw.Record {
		r := net(at, thread, id, words...)
		r.Keywords, r.Level = 1, etw.LevelInformational
		return r
	}
	named := func(at, thread int64, provider, name string) *etw.Record {
		return &etw.Record{Kind: etw.KindManifest, ProviderName: provider, Timestamp: at, ThreadID: thread, ProcessID: 7, Schema: &etw.EventDesc{Name: name}}
	}
	sample := func(at, thread int64) *etw.Record { return named(at, thread, sampler, "ThreadSample") }
	rests := func(at, thread int64, ns uint64) *etw.Record {
		r := named(at, thread, recorder, "cswitch")
		r.Payload = binary.AppendUvarint(nil, ns)
		return r
	}
	activity := func(at, thread int64, op etw.Opcode, id byte) *etw.Record {
		r := named(at, thread, "Shop", "Order")
		r.Opcode, r.ActivityID = op, etw.GUID{id}
		return r
	}
	const million = 1_000_000
	steps := []struct {
		r     *etw.Record
		stays bool // of those from 100 million on, up to 200, all do
	}{
		{collects(1*million, 1, gcStart, 1), false},
		{collects(2*million, 1, gcEnd, 1), false},
		{collects(3*million, 1, gcStart, 2), true}, // the one before that which is on: the size of the heap
		{collects(4*million, 1, gcEnd, 2), true},
		{net(5*million, 1, 301), false}, // a wait that is over
		{net(6*million, 1, 301), true},  // and one that is not
		{net(7*million, 2, 145, 0xa), false},
		{net(8*million, 2, 143, 0xa), false},
		{net(9*million, 2, 145, 0xb), true},
		{activity(10*million, 1, etw.OpcodeStart, 1), false},
		{activity(11*million, 2, etw.OpcodeStop, 1), false},
		{activity(12*million, 1, etw.OpcodeStart, 2), true},
		{activity(13*million, 1, etw.OpcodeStart, 3), true}, // while another one is on
		{activity(14*million, 2, etw.OpcodeStop, 3), true},
		{sample(20*million, 1), false},
		{sample(30*million, 1), true},
		{sample(30*million+1, 2), true},
		{sample(40*million, 1), true},
		{rests(41*million, 9, million), false},
		{rests(50*million, 9, 20*million), true}, // a rest in parts
		{rests(70*million, 9, 60*million), true},
		{collects(80*million, 3, suspendBegin), true},
		{collects(81*million, 3, gcStart, 3), true},
		{activity(120*million, 1, etw.OpcodeStop, 2), true},
		{rests(130*million, 9, 90*million), true},
		{activity(140*million, 1, etw.OpcodeStart, 4), true},
		{net(210*million, 1, 302), true},
		{net(211*million, 1, 302), false},
		{net(212*million, 3, 143, 0xb), true},
		{collects(213*million, 3, gcEnd, 3), true},
		{collects(214*million, 3, restartEnd), true},
		{collects(215*million, 3, 4), true}, // sums it up
		{collects(216*million, 3, gcStart, 4), false},
		{rests(220*million, 9, million), true}, // the same rest
		{rests(230*million, 9, million), true}, // the first that is no part of it
		{rests(240*million, 9, million), false},
		{sample(260*million, 1), true},
		{sample(270*million, 1), true},
		{sample(270*million+1, 2), true},
		{sample(280*million, 1), false},
		{activity(290*million, 3, etw.OpcodeStart, 5), true}, // an activity is on
		{activity(291*million, 3, etw.OpcodeStop, 4), true},
		{activity(292*million, 3, etw.OpcodeStop, 5), false},
	}
	edges := &Edges{Place: func(r *etw.Record) int {
		switch {
		case r.Timestamp < 100*million:
			return -1
		case r.Timestamp >= 200*million:
			return 1
		}
		return 0
	}}
	for _, s := range steps {
		edges.Look(s.r, true)
	}
	k := &Keeper{Edges: edges}
	for _, s := range steps {
		if edges.Place(s.r) == 0 {
			k.Chose(s.r)
		} else if got := k.NeedsBeyond(s.r); got != s.stays {
			t.Errorf("at %d: %s %d stays is %v", s.r.Timestamp, s.r.ProviderName, s.r.ID, got)
		}
	}
}
