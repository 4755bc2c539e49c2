package pick

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/parts"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/trace"
)

// A Scope holds the flags that choose the part of a trace for an analysis.
type Scope struct {
	of        Selection   // whose filters of events are left empty
	now       Selection   // the same, narrowed to Part
	ofThreads bool        // the answer is of threads
	Part      *trace.Part // of another trace that the traces are, or nil
	Later     bool        // threads of a part are chosen of the answer, or do not matter for it
}

// Scope returns the part of a trace that the flags choose, whichever events they choose.
func (s *Selection) Scope() Scope {
	return Scope{of: Selection{processes: s.processes, children: s.children, from: s.from, To: s.To, Zone: s.Zone, during: s.during, caused: s.caused}}
}

// Flags adds the flags to a command.
func (s *Scope) Flags(cmd *cobra.Command) {
	s.of.processFlags(cmd, "only")
	s.of.timeFlags(cmd)
}

// ThreadFlag adds the flag that chooses threads, to a command whose answer is of threads.
func (s *Scope) ThreadFlag(cmd *cobra.Command, only string) {
	s.ofThreads = true
	threadFlag(cmd, &s.of.threads, only)
}

// Given reports whether anything is chosen.
func (s *Scope) Given() bool {
	return len(s.of.processes)+len(s.of.threads)+len(s.of.during)+len(s.of.caused) > 0 || s.of.from+s.of.To != ""
}

// Parted reports whether processes or threads are chosen, also by the mark of a part.
func (s *Scope) Parted() bool {
	return len(s.of.processes)+len(s.of.threads)+len(s.now.processes)+len(s.now.threads) > 0
}

// Key tells the records that a header of the scope takes from those of others.
func (s *Scope) Key(h *filter.Header) string {
	key := s.of
	if h.From == nil && h.To == nil {
		key.from, key.To = "", ""
	}
	return fmt.Sprint(key)
}

// Threads returns the filter of threads.
func (s *Scope) Threads() []string { return append(s.now.threads, s.of.threads...) }

// Threads returns the filter of threads.
func (s *Selection) Threads() []string { return s.threads }

// Activities returns the filters of activities that threads worked for, and that were on.
func (s *Selection) Activities() (caused, during []string) { return s.caused, s.during }

// threadFlag defines the flag that chooses threads.
func threadFlag(cmd *cobra.Command, into *[]string, only string) {
	cmd.Flags().StringArrayVar(into, "tid", nil, only+" of this `THREAD`: its number, numbers such as 4,1000-1999, its name or\na pattern of names; repeatable")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"tid": cobra.NoFileCompletions})
}

// processFlags defines the flag that chooses processes, which goes by a second name, and that
// for their children.
func (s *Selection) processFlags(cmd *cobra.Command, only string) {
	f := cmd.Flags()
	f.BoolVar(&s.children, "children", false, "with --process: also of the processes that it began, and these")
	f.StringArrayVar(&s.processes, "process", nil, only+" of this `PROCESS`: its number, numbers such as 4,1000-1999, its name or\na pattern of names; repeatable; --pid is the same")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "pid" {
			name = "process"
		}
		return pflag.NormalizedName(name)
	})
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"process": completeProcesses})
}

// ParseNamed returns the numbers in a flag about processes or threads, and the patterns of
// names.
func ParseNamed(flag string, texts []string) (numbers filter.Numbers, patterns []filter.Glob, err error) {
	for _, text := range texts {
		switch n, err := filter.ParseNumbers(text, math.MaxInt64); {
		case err == nil:
			numbers = append(numbers, n...)
		case strings.Trim(text, "0123456789,- ") == "":
			return nil, nil, cli.Usagef("--%s: %w", flag, err)
		default:
			patterns = append(patterns, filter.Glob(text))
		}
	}
	return numbers, patterns, nil
}

// Header reads the flags. Names of processes are looked for in the traces, which
// takes a pass over them.
func (s *Scope) Header(cmd *cobra.Command, in *Input, paths []string) (*filter.Header, error) {
	opts, _ := (&Input{unpackLimit: in.unpackLimit, HeadersOnly: true}).Options(cmd)
	whole, p, start, refused := parts.Of(cmd, paths, s.ofThreads, s.Later, opts...)
	s.now, s.Part = s.of, whole
	now := parts.Choice{Processes: &s.now.processes, Threads: &s.now.threads, Activities: &s.now.caused, During: &s.now.during, From: &s.now.from, To: &s.now.To}
	now.Take(p)
	sel := new(Selector)
	if err := cmp.Or(refused, s.now.window(sel), s.now.named(sel)); err != nil {
		return nil, err
	}
	if err := sel.findProcesses(cmd, in, paths); err != nil || p == nil {
		return &sel.Header, err
	}
	return &sel.Header, now.Narrow(&sel.Header, p, start)
}

// findProcesses looks for the processes and the activities whose names were given.
func (s *Selector) findProcesses(cmd *cobra.Command, in *Input, paths []string) error {
	if err := s.findZone(cmd, in, paths); err != nil {
		return err
	}
	if err := s.findActivities(cmd, in, paths); err != nil {
		return err
	}
	if err := s.findNamed(cmd, in, paths); err != nil || !s.children {
		return err
	}
	return withChildren(cmd, in, paths, &s.Header)
}

// findNamed looks for the processes and threads whose names were given.
func (s *Selector) findNamed(cmd *cobra.Command, in *Input, paths []string) error {
	if len(s.patterns)+len(s.threads) == 0 {
		return nil
	}
	if slices.Contains(paths, trace.Stdin) {
		return cli.Usagef("%s: to find by its name takes a pass of its own over the trace, and the standard input has only one; give its number", s.firstPattern())
	}
	names, err := knownIn(cmd, in, paths)
	if err != nil {
		return err
	}
	s.Header.Lives = names.calledLives(s.patterns, s.Header.Processes)
	for _, x := range []struct {
		flag, thing string
		patterns    []filter.Glob
		names       map[int64]string
		into        *filter.Numbers
	}{{"process", "process", s.patterns, names.Processes, &s.Header.Processes}, {"tid", "thread", s.threads, names.Threads, &s.Header.Threads}} {
		found, err := called(x.names, x.patterns, x.flag, x.thing)
		if err != nil {
			return err
		}
		*x.into = append(*x.into, found...)
	}
	return nil
}

// firstPattern returns the first name of a process or a thread that is asked for, with its flag.
func (s *Selector) firstPattern() string {
	if len(s.patterns) > 0 {
		return "--process " + string(s.patterns[0])
	}
	return "--tid " + string(s.threads[0])
}

// findZone takes the zone of the machine from the first trace, if it is asked for.
func (s *Selector) findZone(cmd *cobra.Command, in *Input, paths []string) error {
	if s.inZone == nil {
		return nil
	}
	if slices.Contains(paths, trace.Stdin) {
		return cli.Usagef("--zone %s: to find it takes a look at the trace before it is read, which the standard input does not allow", zoneOfMachine)
	}
	t, _, err := in.Open(cmd, paths[:1], false)
	if err != nil {
		return err
	}
	defer t.Close()
	for _, f := range t.Files() {
		if zone := f.Head().Zone; zone != nil {
			s.Zone = zone
			return s.inZone(s)
		}
	}
	return cli.Usagef("--zone %s: the trace does not tell the zone of its machine", zoneOfMachine)
}

// CheckLive reports names of processes and activities where there is no trace to find them
// in.
func (s *Selector) CheckLive() error {
	if s.sought != nil {
		return cli.Usagef("%s: of a live program nobody knows yet which activities there will be", s.sought)
	}
	if s.inZone != nil {
		return cli.Usagef("--zone %s: of a live program it is local", zoneOfMachine)
	}
	if s.children {
		return cli.Usagef("--children: of a live program nobody knows yet which processes it will begin")
	}
	if len(s.patterns)+len(s.threads) > 0 {
		return cli.Usagef("%s: live events are chosen by the number of a process or a thread", s.firstPattern())
	}
	return nil
}
