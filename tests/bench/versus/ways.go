package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A way is a task on a file. Those with a letter are TraceEvent's tasks under it.
type way struct {
	name string
	opts []nettrace.Option
	read func(etw.Source) error
}

// waysETL are the tasks on .etl files. Only ours come with records' facts about others; the
// bound is to be held against the second.
var waysETL = []struct {
	name string
	opts []etl.Option
}{
	{"b all events", nil},
	{"etl records alone", []etl.Option{etl.WithoutSchemas(), etl.WithoutAttribution()}},
}

// isETL reports whether a file is to be read by package etl.
func isETL(file string) bool { return strings.HasSuffix(file, ".etl") }

var ways = []way{
	{"order of the file", []nettrace.Option{nettrace.WithFileOrder()}, readAll},
	{"b all events", nil, readAll},
	{"c clr typed", nil, func(s etw.Source) error {
		var mux etw.Mux
		handleSome(&mux)
		return mux.Run(context.Background(), s)
	}},
	{"e runtime analysis", nil, func(s etw.Source) error {
		var mux etw.Mux
		collections, methods := gc.New(&mux), jit.New(&mux)
		err := mux.Run(context.Background(), s)
		sink += uint64(len(collections.Result().Runtimes) + len(methods.Result().Runtimes))
		return err
	}},
}

// sink is there for the compiler, which must not leave out the measured work.
var sink uint64

// measure prints the best and the median time of each way to read a file, from the
// disk and from memory.
func measure(out io.Writer, file string, n int) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if isETL(file) {
		for _, w := range waysETL {
			once := func(input string) error { return onceETL(file, data, input, w.opts) }
			if err := measureWay(out, w.name, n, once); err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range ways {
		once := func(input string) error { return w.once(file, data, input) }
		if err := measureWay(out, w.name, n, once); err != nil {
			return err
		}
	}
	return nil
}

// measureWay prints the times of one way.
func measureWay(out io.Writer, name string, n int, once func(input string) error) error {
	for _, input := range []string{"file", "memory"} {
		taken := make([]time.Duration, n)
		for i := range taken {
			runtime.GC() // so that no run pays for the one before, as the others do it, too
			start := time.Now()
			if err := once(input); err != nil && !isIncomplete(err) {
				return err
			}
			taken[i] = time.Since(start)
		}
		slices.Sort(taken)
		fmt.Fprintf(out, "%s,%s,%.7f,%.7f\n", name, input, taken[0].Seconds(), taken[n/2].Seconds())
	}
	return nil
}

// onceETL reads an .etl file once.
func onceETL(file string, data []byte, input string, opts []etl.Option) error {
	var r *etl.Reader
	var err error
	if input == "file" {
		r, err = etl.Open(file, opts...)
	} else {
		r, err = etl.NewReader(bytes.NewReader(data), int64(len(data)), opts...)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return readAll(r)
}

// once reads a file once.
func (w *way) once(file string, data []byte, input string) error {
	if input == "file" {
		r, err := nettrace.Open(file, w.opts...)
		if err != nil {
			return err
		}
		defer r.Close()
		return w.read(r)
	}
	r, err := nettrace.NewReader(bytes.NewReader(data), w.opts...)
	if err != nil {
		return err
	}
	return w.read(r)
}

func readAll(s etw.Source) error {
	for _, err := range etw.Records(s) {
		if err != nil {
			return err
		}
		sink++
	}
	return nil
}

// handleSome handles the events that programs want most, and reads their fields.
func handleSome(mux *etw.Mux) {
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyGCStart) error {
		sink += uint64(e.Count) + uint64(e.Depth) + uint64(e.Reason) + uint64(e.Type)
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyGCEnd) error {
		sink += uint64(e.Count) + uint64(e.Depth)
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyGCHeapStats) error {
		sink += e.GenerationSize0 + e.GenerationSize1 + e.GenerationSize2 + e.GenerationSize3 + e.GenerationSize4 +
			e.TotalPromotedSize0 + uint64(e.PinnedObjectCount) + uint64(e.GCHandleCount)
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyGCAllocationTick) error {
		sink += e.AllocationAmount64 + uint64(e.AllocationKind) + uint64(e.TypeName.Len()) + uint64(e.TypeID)
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyMethodLoadVerbose) error {
		sink += uint64(e.MethodNamespace.Len()+e.MethodName.Len()+e.MethodSignature.Len()) + uint64(e.MethodSize) + e.MethodStartAddress
		return nil
	})
	etw.Handle(mux, func(_ *etw.Record, e *clr.AnyExceptionThrown) error {
		sink += uint64(e.ExceptionType.Len() + e.ExceptionMessage.Len())
		return nil
	})
}
