package profiling

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ticked returns a sample of a processor.
func ticked(process, thread, at int64, stack ...uint64) *etw.Record {
	d := &etw.EventDesc{Name: "cpu"}
	r := &etw.Record{ProviderName: "Universal.Events", ID: 1, Schema: d, PointerSize: etw.Ptr64, ProcessID: process, ThreadID: thread, Timestamp: at, Payload: []byte{1},
		Clock: &etw.Clock{Frequency: 1e9}, Stack: etw.Stack{PtrSize: etw.Ptr64}}
	for _, a := range stack {
		r.Stack.Addresses = binary.LittleEndian.AppendUint64(r.Stack.Addresses, a)
	}
	return r
}

// TestKernelSwap gives each process its own samples, once, under the number that it has for
// itself; the rest is counted.
func TestKernelSwap(t *testing.T) {
	k := newKernel(time.Second / 50)
	k.most = 3
	one, two := &Process{PID: 70, Own: 7}, &Process{PID: 80}
	k.follow(one)
	k.follow(two)
	k.follow(&Process{PID: 90, Unseen: true})
	for i := range int64(5) {
		for _, pid := range []int64{70, 90, 7} {
			k.take(ticked(pid, pid+1, i*1000, 1, 2))
		}
	}
	k.take(ticked(80, 81, 9000))
	k.lost = 4
	check := func(p *Process, want Interval, process, threads int64) {
		t.Helper()
		var x Interval
		list, err := k.swap(&x, p)
		if err != nil || x.Sampled != want.Sampled || x.Dropped != want.Dropped || x.Lost != want.Lost || x.Skipped != want.Skipped {
			t.Errorf("%d: %+v, want %+v: %v", p.PID, x, want, err)
		}
		n := 0
		for _, s := range list {
			for x := range s.All() {
				if n++; x.Process != process || x.Thread != threads || x.Values[1] != 20e6 {
					t.Errorf("%d: %+v", p.PID, x)
				}
			}
		}
		if n != want.Sampled {
			t.Errorf("%d has %d samples, want %d", p.PID, n, want.Sampled)
		}
	}
	check(one, Interval{Sampled: 3, Dropped: 2, Lost: 4}, 7, 71)
	check(one, Interval{}, 7, 71)
	check(two, Interval{Sampled: 1}, 80, 81)
	check(&Process{PID: 90}, Interval{Skipped: SkippedUnseen}, 0, 0)
	unseen := &Process{PID: int64(os.Getpid()), Unseen: true}
	if _, err := os.Stat(unseen.folder()); err == nil {
		t.Error("another process is taken for one that is not seen")
	}
	k.leave(two)
	k.take(ticked(80, 81, 9000))
	check(two, Interval{Skipped: SkippedUnseen}, 0, 0)
}

// TestKernel samples this process, and nobody else does at the same time.
func TestKernel(t *testing.T) {
	for hz, ok := range map[int]bool{-1: false, 0: false, 18: false, 19: true, 97: true, 98: false} {
		if err := CheckHz(hz); (err == nil) != ok {
			t.Errorf("%d: %v", hz, err)
		}
	}
	if _, err := NewKernel(1000); err == nil {
		t.Error("processors can be sampled 1,000 times a second")
	}
	k, err := NewKernel(mostHz)
	if runtime.GOOS != "linux" && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("elsewhere: %v", err)
	}
	if err != nil {
		t.Skipf("nothing can be sampled here: %v", err)
	}
	p := &Process{PID: int64(os.Getpid())}
	k.follow(p)
	if other, err := NewKernel(leastHz); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d samples", os.Getpid())) {
		t.Errorf("there are two: %v", err)
		other.Close()
	}
	var x Interval
	var list []*stacks.Samples
	for deadline := time.Now().Add(time.Minute); x.Sampled == 0 && time.Now().Before(deadline); {
		for i := range 1 << 22 {
			sink += i
		}
		if list, err = k.swap(&x, p); err != nil {
			t.Fatal(err)
		}
	}
	c := code{p: p, kernel: k}
	name, end := c.naming()
	defer end()
	of := stacks.NewProfile(nil, stacks.Options{Native: name}, list...)
	if x.Sampled == 0 || of.Len() != x.Sampled || of.Naming.Named+of.Naming.Native == 0 {
		t.Errorf("%d samples, %d in the profile, %+v", x.Sampled, of.Len(), of.Naming)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if k, err = NewKernel(leastHz); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
	k.Close()
}
