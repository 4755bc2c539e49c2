package tracefilereceiver

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// profiles gives the samples of a trace away, once. Their code has names when all of the
// trace is known, and weights when all samples are: so it is read for them from its begin.
func (r *reading) profiles(stop context.Context) error {
	if r.w.core.Sender.Profiles == nil || r.state.Profiled {
		return nil
	}
	r.state.Profiled = true
	files, err := trace.OpenFiles(r.found.path, trace.WithContext(stop))
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if r.index >= len(files) {
		return errChanged
	}
	out, err := r.weigh(stop, files[r.index])
	if err != nil || out.Count() == 0 {
		return err
	}
	data, err := flow.ProfilesOf(out)
	if err != nil {
		return err
	}
	return r.w.core.Sender.SendProfiles(data)
}

// weigh returns the samples of a trace, of all kinds that it has.
func (r *reading) weigh(stop context.Context, f *trace.File) (*otlp.Profiles, error) {
	var mux etw.Mux
	code, processes := symbols.New(&mux), runtimes.New(&mux)
	var sources []samples.Source
	for i := range samples.Kinds {
		// Stacks that are events of their own are bound by some analyses, and not for others.
		if k := &samples.Kinds[i]; k.OwnStacks || f.Head().Recorder != trace.Windows {
			sources = append(sources, k.New(&mux))
		}
	}
	var rec etw.Record
	for n := 0; ; n++ {
		if n%64 == 0 && stop.Err() != nil {
			return nil, flow.ErrStopped
		}
		err := f.Next(&rec)
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, etw.ErrIncomplete) {
			break // the good part counts, as it does of events
		}
		if err == nil {
			_ = mux.Dispatch(&rec) // events that cannot be decoded are counted by who sends them
		}
	}
	names := make(map[int64]string)
	for _, p := range processes.Result().Runtimes {
		names[p.PID] = program(p.CommandLine)
	}
	out := &otlp.Profiles{Resource: func(pid int64) []otlp.Attribute {
		list := slices.DeleteFunc(r.resource(), func(a otlp.Attribute) bool { return a.Key == "process.pid" })
		list = append(list, otlp.Attribute{Key: "process.pid", Value: pid})
		if !slices.ContainsFunc(list, func(a otlp.Attribute) bool { return a.Key == parquet.KeyService }) {
			list = append(list, otlp.Attribute{Key: parquet.KeyService, Value: strings.TrimSuffix("unknown_service:"+names[pid], ":")})
		}
		if names[pid] != "" {
			list = append(list, otlp.Attribute{Key: "process.executable.name", Value: names[pid]})
		}
		return list
	}}
	table := code.Table()
	for _, s := range sources {
		p := stacks.NewProfile(table, stacks.Options{Names: stacks.QualifiedNames}, s.Samples()...)
		if p.Len() > 0 {
			interval := int64(0)
			if x, ok := s.(*samples.Processors); ok {
				interval = x.Interval()
			}
			out.Add(p, interval)
		}
	}
	return out, nil
}

// program returns the name of a program by the line that it was started with.
func program(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	base := func(word string) string { return path.Base(strings.ReplaceAll(strings.Trim(word, `"`), `\`, "/")) }
	name := base(words[0])
	if host := strings.TrimSuffix(name, ".exe"); host == "dotnet" && len(words) > 1 && strings.HasSuffix(base(words[1]), ".dll") {
		return strings.TrimSuffix(base(words[1]), ".dll")
	}
	return name
}
