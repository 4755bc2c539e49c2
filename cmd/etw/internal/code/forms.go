package code

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/profiles"
	"github.com/etwgen/etwgen/export/folded"
	"github.com/etwgen/etwgen/export/otlp"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/export/speedscope"
)

// A ProfileForm is a format of other tools that profiles are written in.
type ProfileForm struct {
	Name     string
	Suffixes []string
	write    func(w io.Writer, p *Profiled, name string) error
}

// ProfileForms are the formats.
var ProfileForms = []ProfileForm{
	{"pprof", []string{".pb.gz", ".pprof"}, func(w io.Writer, p *Profiled, _ string) error {
		return pprof.Write(w, p.Profile, pprof.Options{Period: p.Period, Comments: p.Facts,
			Process: func(id int64) string { return p.Names.Processes[id] }, Thread: func(id int64) string { return p.Names.Threads[id] }})
	}},
	{"speedscope", []string{".speedscope.json", ".speedscope"}, func(w io.Writer, p *Profiled, name string) error {
		return speedscope.Write(w, p.Profile, speedscope.Options{Name: name, Thread: func(_, thread int64) string { return p.Names.OfThread(thread) }})
	}},
	{"folded", []string{".folded", ".txt"}, func(w io.Writer, p *Profiled, _ string) error { return folded.Write(w, p.Profile) }},
	{"otlp-profile", []string{".otlp"}, func(w io.Writer, p *Profiled, _ string) error {
		out := otlp.Profiles{Resource: p.resource, Thread: func(_, thread int64) string { return p.Names.Threads[thread] }}
		out.Add(p.Profile, p.Period)
		_, err := w.Write(out.AppendProto(nil))
		return err
	}},
}

// resource returns the source of the samples of a process, as OpenTelemetry calls it.
func (p *Profiled) resource(id int64) []otlp.Attribute {
	var list []otlp.Attribute
	name := p.Names.Processes[id]
	if name != "" && name != profiles.Unknown {
		list = append(list, otlp.Attribute{Key: "service.name", Value: "unknown_service:" + name}, otlp.Attribute{Key: "process.executable.name", Value: name})
	}
	if id >= 0 {
		list = append(list, otlp.Attribute{Key: "process.pid", Value: id})
	}
	return list
}

// Write writes the profile of traces to a file.
func (f *ProfileForm) Write(o *Profiling, cmd *cobra.Command, args []string, path string) error {
	if f.Name == "pprof" { // which has room for lines
		o.linesIfKnown()
	}
	return o.write(cmd, args, path, "there is nothing to write", func(w io.Writer, p *Profiled) error {
		o.LeaveMachinery(p)
		return f.write(w, p, filepath.Base(args[0]))
	})
}
