package code

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/export/folded"
	"github.com/etwgen/etwgen/export/pprof"
	"github.com/etwgen/etwgen/export/speedscope"
)

// A writtenAs is a format that profiles are converted to.
type writtenAs struct {
	name     string
	suffixes []string
	write    func(w io.Writer, p *Profiled, name string) error
}

// writtenForms are the formats, as --format names them.
var writtenForms = []writtenAs{
	{"pprof", []string{".pb.gz", ".pprof"}, func(w io.Writer, p *Profiled, _ string) error {
		return pprof.Write(w, p.Profile, pprof.Options{Period: p.Period, Comments: p.Facts,
			Process: func(id int64) string { return p.Names.Processes[id] }, Thread: func(id int64) string { return p.Names.Threads[id] }})
	}},
	{"speedscope", []string{".speedscope.json", ".speedscope"}, func(w io.Writer, p *Profiled, name string) error {
		return speedscope.Write(w, p.Profile, speedscope.Options{Name: name, Thread: func(_, thread int64) string { return p.Names.OfThread(thread) }})
	}},
	{"folded", []string{".folded", ".txt"}, func(w io.Writer, p *Profiled, _ string) error { return folded.Write(w, p.Profile) }},
	{"chrome", []string{".trace.json", ".perfetto.json"}, nil}, // which is no profile
}

// NewConvert returns the command that writes profiles in other formats.
func NewConvert() *cobra.Command {
	var o Profiling
	var path, to string
	var names, suffixes []string
	for _, t := range writtenForms {
		names = append(names, t.name)
		suffixes = append(suffixes, t.suffixes[0])
	}
	cmd := &cobra.Command{
		Use:   "convert [flags] FILE...",
		Short: "Write call stacks and what they weigh for other tools",
		Long: `Convert writes the samples of traces for other tools: for pprof (go tool pprof and
many services), for https://www.speedscope.app, or as folded stacks, which tools for
flame graphs read. What the samples are, --of says; the flags that choose samples and
frames are those of top.

As chrome it writes no profile, but what happened when, for https://ui.perfetto.dev
and chrome://tracing: collections, compilations of methods, waits for locks and else,
exceptions, the longest requests, allocations, counters, and what threads did by
context switches. The flags about samples and frames mean nothing there.

Where --symbols has portable PDBs, profiles for pprof have source lines: see etw lines.

The format is that of --format, or of the suffix of the file: ` + strings.Join(suffixes, ", ") + `.

` + patternsLong,
		Example: `  etw convert cpu.nettrace -o cpu.pb.gz && test -s cpu.pb.gz
  etw convert cpu.nettrace -o cpu.speedscope.json && test -s cpu.speedscope.json
  etw convert cpu.nettrace --label state=managed --format folded
  etw convert gc.nettrace -o gc.trace.json && test -s gc.trace.json
  etw convert alloc.nettrace --of allocs --format folded --names short`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if end := cmd.Flags().Lookup("to"); to == "" && slices.Contains(names, end.Value.String()) { // no time is called so
				to = end.Value.String()
				if err := end.Value.Set(""); err != nil {
					return err
				}
			}
			t, err := findForm(path, to, names)
			if err != nil {
				return err
			}
			if err := o.Check(); err != nil {
				return err
			}
			if t.write == nil {
				return o.chrome(cmd, args, path)
			}
			if t.name == "pprof" {
				o.linesIfKnown()
			}
			return o.write(cmd, args, path, "there is nothing to write", func(w io.Writer, p *Profiled) error { return t.write(w, p, filepath.Base(args[0])) })
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "write to this `file`, instead of the standard output")
	cmd.Flags().StringVarP(&to, "format", "f", "", "write this `FORMAT`: "+strings.Join(names, ", "))
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"format": cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)})
	o.Flags(cmd)
	return cmd
}

// findForm returns the format that the flags name.
func findForm(path, to string, names []string) (*writtenAs, error) {
	named := formOfSuffix(path)
	if to != "" {
		if i := slices.Index(names, to); i >= 0 {
			if named != nil && named != &writtenForms[i] {
				return nil, cli.Usagef("--format %s and --output %s contradict each other: that is the suffix of %s", to, path, named.name)
			}
			return &writtenForms[i], nil
		}
		return nil, cli.Usagef("--format %s: there are %s%s", to, strings.Join(names, ", "), cli.DidYouMean(to, names))
	}
	if named != nil {
		return named, nil
	}
	if path == "" {
		return nil, cli.Usagef("without --output FILE, --format says the format: %s", strings.Join(names, ", "))
	}
	var suffixes []string
	for i := range writtenForms {
		suffixes = append(suffixes, writtenForms[i].suffixes[0])
	}
	return nil, cli.Usagef("--output %s: the suffix says no format; there are %s, or --format", path, strings.Join(suffixes, ", "))
}

// formOfSuffix returns the format that the suffix of a file names, or nil.
func formOfSuffix(path string) *writtenAs {
	for i := range writtenForms {
		for _, suffix := range writtenForms[i].suffixes {
			if strings.HasSuffix(strings.ToLower(path), suffix) {
				return &writtenForms[i]
			}
		}
	}
	return nil
}
