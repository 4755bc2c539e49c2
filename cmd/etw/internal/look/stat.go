package look

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// NewStat returns the command that counts events.
func NewStat() *cobra.Command {
	st := new(stat)
	cmd := &cobra.Command{
		Use:   "stat [flags] FILE...",
		Short: "Count events, and sum up their fields",
		Long: `Stat counts events by provider, id, version and opcode, or by the keys of --by;
several traces are counted together. Bytes are those of payloads. Undecodable are
the events whose payload does not fit its description, and those whose header is
damaged; lost are those that the session could not record. They are in no row.

--by takes a list of provider, event, id, level, task, opcode, process, thread, cpu,
file, and names of fields. A field called like one of these is written field:NAME,
a member of a struct STRUCT.MEMBER. Events without the field are not counted.

--sum, --avg, --min, --max and --p50 to --p99 take the name of a field that is a
number. --histogram counts the values of a field in steps of powers of two, --every
counts events in intervals of time. All go together with --by and all filters.`,
		Example: `  etw stat gc.nettrace
  etw stat --sort bytes --top 5 jit.nettrace
  etw stat --by provider,level gc.nettrace
  etw stat -e GCAllocationTick --by TypeName --sum AllocationAmount64 --top 10 alloc.nettrace
  etw stat --event GCHeapStats --max GenerationSize2 --p99 GenerationSize0 gc.nettrace
  etw stat --event MethodLoadVerbose --histogram MethodSize jit.nettrace
  etw stat --every 1ms --by event --event 'GC*' gc.nettrace
  etw stat --by process,thread trace.etl
  etw stat --format json gc.nettrace | jq -r '.rows[] | [.count, .event] | @tsv'`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              st.main,
	}
	st.flags(cmd)
	return cmd
}

// A stat counts the events of a trace.
type stat struct {
	in        pick.Input
	sel       pick.Selection
	out       show.Output
	rank      show.Ranking
	by        []string
	measures  []measure
	histogram string
	every     time.Duration

	cmd      *cobra.Command
	selector *pick.Selector
	groups   *groups
	names    *pick.Names
	faults   map[string]int64 // payloads that do not fit, by the file
}

func (st *stat) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&st.by, "by", nil, "count by these `KEYS`: provider, event, id, level, task, opcode, process,\nthread, cpu, file or names of fields")
	measureFlags(cmd, &st.measures)
	f.StringVar(&st.histogram, "histogram", "", "count how often values of this `FIELD` lie between powers of two")
	f.DurationVar(&st.every, "every", 0, "count for each `INTERVAL` such as 1s or 100ms")
	st.rank.Flags(cmd, "count", "bytes", "provider", "event", "id", "first", "last")
	st.sel.Flags(cmd)
	st.out.Flags(cmd)
	st.in.AttributeFlag(cmd)
	st.in.ManifestFlag(cmd)
	st.in.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"by": pick.CompleteList(func(cmd *cobra.Command, args []string) []string {
			return append(slices.Clone(keyNames), pick.FieldsOf(cmd, args)...)
		}),
		"histogram": pick.CompleteFields,
		"every":     cobra.FixedCompletions([]string{"10ms", "100ms", "1s", "1m"}, cobra.ShellCompDirectiveNoFileComp),
	})
}

// main runs the command.
func (st *stat) main(cmd *cobra.Command, args []string) error {
	st.cmd = cmd
	if err := st.out.Check(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("every") && st.every <= 0 {
		return cli.Usagef("--every: %v is not an interval such as 1s", st.every)
	}
	if st.histogram != "" && st.every > 0 {
		return cli.Usagef("--histogram and --every exclude each other")
	}
	if err := st.rank.Check(cmd); err != nil {
		return err
	}
	var err error
	if st.selector, err = st.sel.Of(cmd, &st.in, args); err != nil {
		return err
	}
	st.names, st.faults = pick.NewNames(), make(map[string]int64)
	st.groups = newGroups(st)
	if err := st.rank.CheckColumn(st.groups.columns(false)); err != nil {
		return err
	}
	t, trouble, err := st.in.Open(cmd, args, false)
	if err != nil {
		return err
	}
	defer t.Close()
	src, err := st.prepare(t, args)
	if err != nil {
		return err
	}
	p := st.out.Open(cmd, false)
	return p.Close(cmp.Or(st.run(p, t, src), trouble))
}

// prepare checks the names and types of fields. It looks into the trace if the
// tool does not know them by itself.
func (st *stat) prepare(t *trace.Trace, args []string) (etw.Source, error) {
	st.selector.Resolve(t)
	if st.checkFields(nil, false) == nil && st.selector.KnowsFields() {
		return t, nil
	}
	m := pick.NewMeeting(st.selector, t)
	a := pick.LookAhead(t, pick.LookLimit(args), m.Meet)
	st.names = m.Names
	if err := st.selector.CheckFields(m.Descs, a.Whole); err != nil {
		return nil, err
	}
	return a, st.checkFields(m.Descs, a.Whole)
}

// checkFields checks the fields that are counted by or summed up.
func (st *stat) checkFields(met []*etw.EventDesc, whole bool) error {
	if len(st.measures) == 0 && st.histogram == "" && !slices.ContainsFunc(st.groups.keys, func(k key) bool { return k.field != nil }) {
		return nil
	}
	descs := st.selector.Candidates(met, whole)
	for _, m := range st.measures {
		if err := m.check(descs, "--"+m.flag); err != nil {
			return err
		}
	}
	if st.histogram != "" {
		if err := (measure{field: st.histogram}).check(descs, "--histogram"); err != nil {
			return err
		}
	}
	return st.groups.check(descs)
}

// run counts the events of src and prints the table.
func (st *stat) run(p *show.Printer, t *trace.Trace, src etw.Source) error {
	r := &pick.Reading{Cmd: st.cmd, Progress: show.NewProgress(st.cmd.ErrOrStderr(), io.Discard), Share: t.Progress}
	r.Wants = st.selector.Wants(func(_ *etw.Record, e *etw.EventInfo) bool { return st.groups.named && st.names.Learns(e) })
	st.groups.names = st.names
	trouble := r.Each(src, func(rec *etw.Record) error { return st.count(t, rec) })
	st.names.Join()
	p.About.Of(t, r.Stopped)
	p.About.ReadTo(trouble)
	p.About.Follow(st.cmd,
		show.Next("etw dump --limit 20", "the events themselves, with their fields"),
		show.Next("etw info", "the kind of trace, and the questions it answers"))
	if err := st.print(p, t); err != nil {
		return err
	}
	if err := p.Flush(); err != nil {
		return err
	}
	none := st.selector.ReportNone(st.cmd)
	if show.ReportLosses(st.cmd, t) {
		trouble = cli.ErrReported
	}
	return cmp.Or(none, trouble)
}

// count counts one event.
func (st *stat) count(t *trace.Trace, rec *etw.Record) error {
	s, err := st.selector.Take(rec, t.Elapsed(rec))
	if err != nil {
		return err
	}
	if st.groups.named {
		st.names.Learn(st.selector.Decoder, rec, st.selector.Decoder.Event(rec))
	}
	if s == nil {
		return nil
	}
	if s.Err != nil {
		st.faults[rec.File]++
	}
	st.groups.add(s)
	return nil
}

// print prints the counts.
func (st *stat) print(p *show.Printer, t *trace.Trace) error {
	faults := int64(0)
	for _, n := range st.faults {
		faults += n
	}
	n := t.Stats()
	if p.Format == show.FormatText {
		for _, f := range t.Files() {
			mine := faults
			if len(t.Files()) > 1 {
				mine = st.faults[f.Name()]
			}
			headline(p, f, mine)
		}
		if st.groups.counted != n.Records {
			fmt.Fprintf(p, "%d events are counted\n", st.groups.counted)
		}
	}
	tab := show.NewTable(st.groups.columns(faults > 0)...)
	st.groups.fill(tab, st.names)
	if n := st.groups.gaps(); n > mostGaps {
		text := fmt.Sprintf("%d intervals without events are left out; of up to %d each is a row", n, mostGaps)
		p.About.Warn(text)
		fmt.Fprintln(st.cmd.ErrOrStderr(), "etw: "+text)
	}
	st.rank.Apply(tab, st.groups.ordered())
	if p.Format == show.FormatText && len(tab.Rows) == 0 {
		return nil
	}
	return tab.Write(p)
}

// headline prints the kind of a file and its size. faults are payloads that do not fit their
// descriptions.
func headline(p *show.Printer, f *trace.File, faults int64) {
	n := f.Stats()
	lost := show.Lost(f) + " lost"
	if n.LostBuffers > 0 {
		lost += " and " + strconv.FormatInt(n.LostBuffers, 10) + " buffers"
	}
	fmt.Fprintf(p, "%s: %s, %d events, %s, %d undecodable\n", cli.Clean(f.Name()), f.Format(), n.Records, lost, faults+n.Undecodable)
}
