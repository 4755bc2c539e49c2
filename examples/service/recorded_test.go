package main

import (
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/etwgen/etwgen/examples/service/events"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
)

var update = flag.Bool("update", false, "record the events of the service again")

// recorded has the events of the service, in a file as Windows has them.
const recorded = "../../tests/recorded/service.etl"

// TestRecorded reads the events of the service.
func TestRecorded(t *testing.T) {
	if *update {
		if err := record(recorded); err != nil {
			t.Fatal(err)
		}
	}
	r, err := etl.Open(recorded)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var mux etw.Mux
	var started, stopped uint64
	etw.Handle(&mux, func(rec *etw.Record, e *events.OrderStart) error {
		if e.Number != started || e.Customer.String() != "Miller" || rec.ActivityID == (etw.GUID{}) {
			t.Errorf("order %d: %+v", started, e)
		}
		started++
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *events.OrderStop) error {
		if e.Number != stopped || e.Outcome != events.OutcomeDone {
			t.Errorf("order %d: %+v", stopped, e)
		}
		stopped++
		return nil
	})
	if err := mux.Run(t.Context(), r); err != nil || started != 3 || stopped != 3 {
		t.Errorf("%d orders, %d done: %v", started, stopped, err)
	}
}

// record has the service write to a file rather than to a session of Windows.
func record(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := etl.NewWriter(f, etl.Header{SessionName: "service", BufferSize: 4 << 10, Processors: 1, Compression: etl.CompressionXpress})
	if err != nil {
		return err
	}
	p := provider.New(events.Provider.Desc, provider.Channels(events.ChannelOperational), provider.To(provider.NewLocal(w)))
	if err := p.Register(); err != nil {
		return err
	}
	serve(p)
	return errors.Join(p.Close(), w.Close())
}
