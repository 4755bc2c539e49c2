package otlp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/profile"
	"github.com/etwgen/etwgen/trace"
)

// A weighed is the samples of one kind of a trace.
type weighed struct {
	*stacks.Profile
	period int64
}

// weigh returns the samples of a trace, of all kinds that there are.
func weigh(t *testing.T, path string) (list []weighed) {
	t.Helper()
	f, err := trace.Open(path)
	if err != nil {
		return nil // it is in the corpus because it is damaged
	}
	defer f.Close()
	var mux etw.Mux
	code := symbols.New(&mux)
	var sources []samples.Source
	for i := range samples.Kinds {
		sources = append(sources, samples.Kinds[i].New(&mux))
	}
	mux.Run(context.Background(), f)
	for _, s := range sources {
		of := s.Samples()
		if len(of) == 0 {
			continue
		}
		x := weighed{Profile: stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames}, of...)}
		if x.Len() == 0 {
			continue
		}
		if p, ok := s.(*samples.Processors); ok {
			x.period = p.Interval()
		}
		list = append(list, x)
	}
	return list
}

// written returns profiles as bytes, and read by those who made the protocol.
func written(t *testing.T, list ...weighed) ([]byte, *v1development.ProfilesData) {
	t.Helper()
	w := otlp.Profiles{
		Resource: func(pid int64) []otlp.Attribute {
			return []otlp.Attribute{{Key: "service.name", Value: "bakery"}, {Key: "process.pid", Value: pid}}
		},
		Thread: func(_, id int64) string { return fmt.Sprint("thread ", id) },
		BuildID: func(path string) otlp.Attribute {
			return otlp.Attribute{Key: "process.executable.build_id.htlhash", Value: "00"}
		},
	}
	for _, x := range list {
		w.Add(x.Profile, x.period)
	}
	b := w.AppendProto(nil)
	var data v1development.ProfilesData
	if err := proto.Unmarshal(b, &data); err != nil {
		t.Fatal(err)
	}
	return b, &data
}

// TestProfiles writes the samples of traces and reads them back: by the protocol itself,
// without a field that it does not know, by the collector, whose own form has the same
// numbers, and by our own reader, which finds the same weights. A check of the rules of
// the protocol finds nothing.
func TestProfiles(t *testing.T) {
	files, _ := filepath.Glob("../recorded/[ac]*/*.net*")
	seen := make(map[string]bool)
	for _, path := range append(files, traces(t)...) {
		list := weigh(t, path)
		if len(list) == 0 {
			continue
		}
		b, data := written(t, list...)
		if n := unknown(data.ProtoReflect()); n > 0 {
			t.Errorf("%s: %d fields are not of the protocol", path, n)
		}
		for _, wrong := range profcheck(data) {
			t.Errorf("%s: %s", path, wrong)
		}
		got, err := (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(b)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text, err := (&pprofile.JSONMarshaler{}).MarshalProfiles(got)
		if err != nil {
			t.Fatal(err)
		}
		again, err := (&pprofile.JSONUnmarshaler{DisallowUnknownFields: true}).UnmarshalProfiles(text)
		if err != nil || again.SampleCount() != got.SampleCount() {
			t.Errorf("%s: the collector reads its own form of it as %d samples, want %d: %v", path, again.SampleCount(), got.SampleCount(), err)
		}
		for _, x := range list {
			seen[x.Kind] = true
			same(t, path, x)
		}
	}
	for _, kind := range []string{cpu.ThreadTime, "allocations", "exceptions", "contention", "waits"} {
		if !seen[kind] {
			t.Errorf("no trace has samples of the kind %s", kind)
		}
	}
}

// same checks that reading a profile back gives each method the weight that it has.
func same(t *testing.T, path string, x weighed) {
	t.Helper()
	b, _ := written(t, x)
	read, err := profile.Read(b)
	if err != nil {
		t.Fatalf("%s: %s: %v", path, x.Kind, err)
	}
	back, _ := profiles.New(read, read.Default, profiles.Options{Names: stacks.QualifiedNames})
	want, got := weights(x.Profile, len(x.Types)-1), weights(back, len(back.Types)-1)
	for name, v := range want {
		if v != got[name] {
			t.Errorf("%s: %s: %s weighs %d, and %d when it is read", path, x.Kind, name, v, got[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %s: %d methods weigh something, and %d when they are read", path, x.Kind, len(want), len(got))
	}
}

// weights returns the weight of each innermost frame.
func weights(p *stacks.Profile, value int) map[string]int64 {
	all := make(map[string]int64)
	for s := range p.Samples() {
		if s.Stack == 0 || s.Values[value] == 0 {
			continue
		}
		_, frame := p.Split(s.Stack)
		all[p.Frames[frame].Name] += s.Values[value]
	}
	return all
}

// unknown counts fields that the protocol does not have, in a message and below it.
func unknown(m protoreflect.Message) int {
	n := len(m.GetUnknown())
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				n += unknown(v.List().Get(i).Message())
			}
		default:
			n += unknown(v.Message())
		}
		return true
	})
	return n
}

// TestBackends has every kind of samples arrive under its name, by the rules of the two
// backends that take profiles of OpenTelemetry.
func TestBackends(t *testing.T) {
	now := time.Now()
	want := map[string][]string{
		cpu.ThreadTime: {"wall:wall:nanoseconds:wall:nanoseconds"},
		cpu.CPU:        {"process_cpu:cpu:nanoseconds:cpu:nanoseconds"},
		"allocations":  {"space:allocated_space:bytes:space:bytes"},
		"exceptions":   {"exceptions:exceptions:count:exceptions:count"},
		"contention":   {"contentions:contentions:count:contentions:count", "contentions:delay:nanoseconds:contentions:count"},
		"waits":        {"off_cpu:off_cpu:nanoseconds::"},
		"blocked":      {"off_cpu:off_cpu:nanoseconds::"},
		"compilations": {"compilations:compiling:nanoseconds:compilations:nanoseconds", "compilations:methods:count:compilations:count"},
	}
	for kind, names := range want {
		x := weighed{made(kind, now), 1e6}
		_, data := written(t, x)
		got, err := pyroscope(data, now)
		if err != nil {
			t.Errorf("%s is refused: %v", kind, err)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s arrives as %q, want %q", kind, got, names)
		}
		if err := parca(data); err != nil {
			t.Errorf("%s is refused: %v", kind, err)
		}
	}
	// One that is older than backends take.
	_, data := written(t, weighed{made(cpu.ThreadTime, now.Add(-48*time.Hour)), 1e6})
	if _, err := pyroscope(data, now); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("a profile of the day before yesterday: %v", err)
	}
}

// made returns samples of a kind, as its analysis has them.
func made(kind string, at time.Time) *stacks.Profile {
	types := map[string][2]string{
		cpu.ThreadTime: {"samples", "time"}, cpu.CPU: {"samples", "cpu"}, "contention": {"contentions", "delay"}, "waits": {"waits", "wait"},
		"blocked": {"times", "blocked"}, "compilations": {"methods", "compiling"}, "allocations": {"samples", "alloc_space"}, "exceptions": {"exceptions", ""},
	}[kind]
	of := []stacks.ValueType{{Name: types[0], Unit: "count"}}
	values := []int64{1, 2e6}
	switch types[1] {
	case "":
		values = values[:1]
	case "alloc_space":
		of = append(of, stacks.ValueType{Name: types[1], Unit: "bytes"})
	default:
		of = append(of, stacks.ValueType{Name: types[1], Unit: "nanoseconds"})
	}
	s := stacks.NewSamples(kind, of...)
	label := s.Label(s.Label(s.Label(0, "type", "System.Exception"), "trace_id", "0af7651916cd43dd8448eb211c80319c"), "span_id", "b7ad6b7169203331")
	for i := range 10 {
		s.AddStack(at.Add(time.Duration(i)*time.Millisecond), 7, int64(i%2), s.InternAddresses(7, []uint64{uint64(i), 100, 200}), label, values...)
	}
	return stacks.NewProfile(nil, stacks.Options{}, s)
}

// TestLinks has samples refer to the span that they are of, and to it alone.
func TestLinks(t *testing.T) {
	_, data := written(t, weighed{made("exceptions", time.Now()), 0})
	links := data.Dictionary.LinkTable
	if len(links) != 2 || fmt.Sprintf("%x %x", links[1].TraceId, links[1].SpanId) != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" {
		t.Fatalf("there are the links %v", links)
	}
	for _, s := range data.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples {
		if s.LinkIndex != 1 {
			t.Errorf("a sample has the link %d", s.LinkIndex)
		}
	}
	// Samples that are the same but for their time are of the span of that.
	w := otlp.Profiles{Span: func(_, _, at int64) (trace, span string) {
		if at%2e6 == 0 {
			return "0af7651916cd43dd8448eb211c80319d", "b7ad6b7169203332"
		}
		return "", ""
	}}
	thrown := stacks.NewSamples("exceptions", stacks.ValueType{Name: "exceptions", Unit: "count"})
	for i := range int64(9) {
		thrown.AddStack(time.UnixMilli(i), 7, 70, thrown.InternAddresses(7, []uint64{1}), 0, 1)
	}
	w.Add(stacks.NewProfile(nil, stacks.Options{}, thrown), 0)
	var spanned v1development.ProfilesData
	if err := proto.Unmarshal(w.AppendProto(nil), &spanned); err != nil {
		t.Fatal(err)
	}
	of := make(map[string]int64)
	for _, s := range spanned.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples {
		of[fmt.Sprintf("%x", spanned.Dictionary.LinkTable[s.LinkIndex].SpanId)] += s.Values[0]
	}
	if len(of) != 2 || of["b7ad6b7169203332"] != 5 || of["0000000000000000"] != 4 {
		t.Errorf("of spans are %v", of)
	}
	for _, a := range data.Dictionary.AttributeTable {
		if key := data.Dictionary.StringTable[a.KeyStrindex]; key == "trace_id" || key == "type" {
			t.Errorf("there is an attribute %s", key)
		}
	}
}
