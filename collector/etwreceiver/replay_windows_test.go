package etwreceiver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/etwgen/etwgen/collector/etwreceiver/internal/metadata"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/classic"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// An event is the common part of a log record and a record of a file: an event is its id,
// or, of classic ones, its opcode.
type event struct {
	provider string
	id       int64
	classic  bool
	at       int64
}

// A census counts events.
type census struct {
	mu    sync.Mutex
	all   map[event]int
	total int
	lost  int
}

func (c *census) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c *census) ConsumeLogs(_ context.Context, data plog.Logs) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range data.ResourceLogs().All() {
		for _, scope := range of.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				if r.EventName() == "etwgen.loss" {
					c.lost++
					continue
				}
				provider, _ := r.Attributes().Get("etw.provider.id")
				e := event{provider: provider.Str(), at: int64(r.Timestamp())}
				if id, ok := r.Attributes().Get("etw.event.id"); ok {
					e.id = id.Int()
				} else if op, ok := r.Attributes().Get("etw.opcode"); ok {
					e.classic, e.id = true, op.Int()
				} else {
					e.classic = true
				}
				c.all[e]++
				c.total++
			}
		}
	}
	return nil
}

func (c *census) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// inFile counts the events of a file.
func inFile(t *testing.T, path string) *census {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	c := &census{all: make(map[event]int)}
	for rec := range testio.Records(t, f.Records()) {
		e := event{provider: rec.Provider.String(), id: int64(rec.ID), at: max(otlp.UnixNano(rec), 0)}
		if rec.Kind == etw.KindClassic {
			e.classic, e.id = true, int64(rec.Opcode)
		}
		c.all[e]++
		c.total++
	}
	return c
}

// TestReplay has a session of the stand-in deliver the events of files, through real
// callbacks: the log records are the events of the files, one for one. replay.sh links the
// test with the stand-in, and runs it.
func TestReplay(t *testing.T) {
	library, corpus := os.Getenv("ETWGEN_STANDIN"), os.Getenv("ETWGEN_CORPUS")
	if library == "" || corpus == "" {
		t.Skip("ETWGEN_STANDIN and ETWGEN_CORPUS do not say what to replay, and by what")
	}
	replay := syscall.NewLazyDLL(library).NewProc("StandInReplay")
	classes := new([1 << 16]etw.GUID)
	for i := range classes {
		classes[i], _ = classic.KernelClass(uint8(i>>8), etw.Opcode(i))
	}
	var pin runtime.Pinner
	pin.Pin(classes)
	defer pin.Unpin()
	files, err := filepath.Glob(filepath.Join(corpus, "etl", "*.etl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no traces: %v", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data := testio.Read(t, path)
			want, got := inFile(t, path), &census{all: make(map[event]int)}
			replay.Call(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(classes)), 1)
			r, err := NewFactory().CreateLogs(t.Context(), receivertest.NewNopSettings(metadata.Type), config(), got)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
				t.Fatal(err)
			}
			wait(t, fmt.Sprintf("all %d events are there", want.total), func() bool { return got.count() >= want.total })
			if err := r.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if !maps.Equal(got.all, want.all) || got.total != want.total || got.lost > 0 {
				t.Errorf("%d log records of %d kinds and times, want %d of %d; %d losses", got.total, len(got.all), want.total, len(want.all), got.lost)
			}
			t.Logf("%d of %d events are equal", got.total, want.total)
		})
	}
}
