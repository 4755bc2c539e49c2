package universal

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/unwind"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// parentPID is the number of a process.
const parentPID = 1<<30 + 1

// stackOf returns a call stack as the kernel has it.
func stackOf(list ...uint64) (b []byte) {
	for _, a := range list {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return b
}

// nobody knows nothing.
type nobody struct{}

func (nobody) Meet(*perfevent.Record) {}

func (nobody) Identify(int32, *Area) string { return "" }

func (nobody) Code(int32, *Area) *unwind.File { return nil }

func (nobody) NamespacePID(pid int32) uint64 { return uint64(pid) }

// A teller is a kernel that tells the states of threads of a process, at times in ms.
type teller struct {
	t   Translator
	got []string
}

func newTeller() *teller { return &teller{t: NewTranslator(nobody{}, 0)} }

func (k *teller) tell(kind perfevent.Kind, ms int64, tid int32) {
	k.t.Take(&perfevent.Record{Kind: kind, PID: parentPID, TID: tid, Time: ms * 1e6, Stack: stackOf(uint64(ms))})
	k.drain()
}

func (k *teller) drain() {
	var r etw.Record
	for k.t.Next(&r, nil) {
		if r.Schema == ContextSwitch {
			rested, _ := binary.Uvarint(r.Payload)
			k.got = append(k.got, fmt.Sprintf("%d off at %d for %d, in %d", r.ThreadID, r.Timestamp/1e6, rested/1e6, r.Stack.At(0)))
		} else if r.Schema == CPUSample {
			k.got = append(k.got, fmt.Sprintf("%d on at %d", r.ThreadID, r.Timestamp/1e6))
		}
	}
}

func (k *teller) end() []string {
	k.t.Ended = true
	k.drain()
	return k.got
}

// A rest is told at the time of its begin. One that lasts is told in parts, and the last one
// ends with the recording.
func TestRests(t *testing.T) {
	k := newTeller()
	k.tell(perfevent.Blocked, 10, 1)
	k.tell(perfevent.Sample, 12, 2)
	k.tell(perfevent.Blocked, 13, 2)
	k.tell(perfevent.Resumed, 15, 1)
	k.tell(perfevent.Sample, 16, 1)
	k.tell(perfevent.Resumed, 17, 3) // it was off before the recording
	if want := []string{"1 off at 10 for 5, in 10", "2 on at 12"}; !cmp.Equal(k.got, want) {
		t.Errorf("before 2 is back: %q", k.got)
	}
	k.tell(perfevent.Sample, 900, 1)
	k.tell(perfevent.Sample, 1100, 1)
	k.tell(perfevent.Resumed, 1150, 2)
	k.tell(perfevent.Blocked, 1200, 1)
	k.tell(perfevent.Sample, 1300, 2)
	want := []string{
		"1 off at 10 for 5, in 10", "2 on at 12", "2 off at 13 for 1087, in 13", "1 on at 16", "1 on at 900", "1 on at 1100",
		"2 off at 1100 for 50, in 13", "1 off at 1200 for 100, in 1200", "2 on at 1300",
	}
	if diff := cmp.Diff(want, k.end()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if k.t.Stats.Switches != 2 || len(k.t.rests.open) > 0 {
		t.Errorf("%+v, %d are open", k.t.Stats, len(k.t.rests.open))
	}
}

// Nothing is told of contradictory records, of which some were lost, and of threads that
// have ended.
func TestUntoldRests(t *testing.T) {
	k := newTeller()
	k.tell(perfevent.Blocked, 10, 1)
	k.tell(perfevent.Sample, 20, 1) // it was back
	k.tell(perfevent.Blocked, 30, 2)
	k.tell(perfevent.Blocked, 40, 2) // so was this one
	k.tell(perfevent.Resumed, 41, 2)
	k.tell(perfevent.Exit, 50, 1)
	k.tell(perfevent.Blocked, 51, 1) // and never comes back
	k.tell(perfevent.Fork, 60, 1)    // another thread
	k.tell(perfevent.Blocked, 61, 1)
	k.tell(perfevent.Blocked, 62, 0) // a processor without work
	k.tell(perfevent.Resumed, 63, 1)
	k.tell(perfevent.Blocked, 64, 1)
	k.tell(perfevent.Exit, 65, 1) // elsewhere
	want := []string{"1 on at 20", "2 off at 40 for 1, in 40", "1 off at 61 for 2, in 61"}
	if diff := cmp.Diff(want, k.end()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever threads do, records come in the order of time, and all that was told of a thread
// adds up to its time.
func TestRestsAddUp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tr := NewTranslator(nobody{}, 0)
	const many = 20
	var offSince, rested, told [many]int64 // by thread
	for i := range offSince {
		offSince[i] = -1
	}
	now, last, held := int64(0), int64(0), 0
	drain := func() {
		var r etw.Record
		for tr.Next(&r, nil) {
			if r.Timestamp < last {
				t.Fatalf("%d after %d", r.Timestamp, last)
			}
			last = r.Timestamp
			if n, _ := binary.Uvarint(r.Payload); r.Schema == ContextSwitch {
				told[r.ThreadID-1] += int64(n)
			}
		}
		held = max(held, len(tr.queue.list))
	}
	for range 100_000 {
		now += rnd.Int64N(int64(2 * time.Millisecond))
		i := rnd.IntN(many)
		if i == 0 && rnd.IntN(50) > 0 {
			continue // this one rests for seconds
		}
		r := perfevent.Record{Kind: perfevent.Blocked, PID: parentPID, TID: int32(i + 1), Time: now}
		if offSince[i] >= 0 {
			r.Kind = perfevent.Resumed
			rested[i] += now - offSince[i]
			offSince[i] = -1
		} else {
			offSince[i] = now
		}
		tr.Take(&r)
		drain()
	}
	tr.Ended = true
	drain()
	for i := range rested {
		if offSince[i] >= 0 {
			rested[i] += tr.last - offSince[i]
		}
	}
	if rested != told {
		t.Errorf("told %v\nwant %v", told, rested)
	}
	if held > 5000 || len(tr.rests.open) > 0 {
		t.Errorf("%d records were held, %d rests are open", held, len(tr.rests.open))
	}
}
