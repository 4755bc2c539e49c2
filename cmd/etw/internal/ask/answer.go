package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A Question is a command that an analysis of the events of traces answers.
type Question struct {
	name, short, Long, example string
	views                      []string               // what the rows of the table can be, the default first
	Needs                      []need.Need            // what to record for it
	Better                     []need.Need            // what a live recording takes, too, for more of an answer
	instead                    []need.Need            // either of these answers it without its needs
	viewNeeds                  map[string][]need.Need // what to record for views that are of other events
	missing                    string                 // what to say in place of needs
	broken                     string                 // what to say where the events of its needs are there, and make no answer
	sampled                    string                 // what to say in place of it, where the trace has samples of processors
	switched                   string                 // what to say beside needs, where it has context switches
	clips                      bool                   // its analyses follow the window of their mux: of a part of the time the parts within count
	standing                   bool                   // its waits may have begun before the recording, and samples show where threads stand
	cut                        string                 // what to say of a part of the time, where that is not that things count as cut off
	codeless                   []string               // views that name no code, so that a live process need not list its methods
	whole                      bool                   // people see all rows if they do not say how many
	rooted                     bool                   // --root is for all views
	threaded                   string                 // what --tid chooses, as its help begins; "" if its events are not of threads
	everyones                  []string               // views that are of all processes and threads
	naming                     bool                   // its answer is a naming one
	flat                       bool                   // its document has the table whatever the flags, but for assistants
	reads                      bool                   // the view says what is kept of the trace
	stays                      bool                   // parts by thread have all of its events
	flags                      func(f *pflag.FlagSet) // of this question alone, or nil
	implied                    func() string          // the view that these flags ask for, or ""; may be nil
	next                       []show.Suggestion      // what is asked after an answer; the files are put behind
	ask                        func(mux *etw.Mux) answer
	others                     []*Question // other sides of it, with results of their own
	turned                     bool        // to this side, by the flag of its name
	// saves writes the findings to a file in place of the answer, if a flag says so; it may
	// be nil.
	saves func(cmd *cobra.Command, args []string, a *answered) (saved bool, err error)

	in    pick.Input
	scope pick.Scope
	Out   show.Output
	rank  show.Ranking
	by    string
	root  string          // only what this code calls
	named *frames.CodeMap // what names code, if it is asked for
	asked filter.Header   // which events were asked for, before an answer widens that
}

// Check turns to the side of the question that is asked, and reads the flags that do not depend
// on the traces.
func (q *Question) Check(cmd *cobra.Command) error { return cmp.Or(q.turn(cmd), q.check(cmd)) }

// Codeless reports whether the answer names no code, once the flags are checked.
func (q *Question) Codeless() bool {
	return q.root == "" && slices.Contains(q.codeless, q.by)
}

// turn turns to another side of the question, if a flag says so.
func (q *Question) turn(cmd *cobra.Command) error {
	if q.implied != nil && !cmd.Flags().Changed("by") {
		q.by = cmp.Or(q.implied(), q.by)
	}
	side := ""
	for _, x := range q.others {
		if !x.turned {
			continue
		}
		if side != "" {
			return cli.Usagef("--%s and --%s ask for two answers; give one of them", side, x.name)
		}
		side = x.name
		q.views, q.Needs, q.missing, q.switched, q.whole, q.ask = x.views, x.Needs, x.missing, x.switched, x.whole, x.ask
		q.cut, q.clips, q.codeless, q.standing = x.cut, x.clips, x.codeless, x.standing
		if x.next != nil {
			q.next = x.next
		}
		if !cmd.Flags().Changed("by") {
			q.by = q.views[0]
		}
	}
	if list := q.viewNeeds[q.by]; list != nil {
		q.Needs, q.missing = list, ""
	}
	return nil
}

// A timed answer wants to know the time between two samples in nanoseconds, 0 if the head
// of the trace does not tell it.
type timed interface{ samplesEach(ns int64) }

// A placed answer wants to know where in time the traces are, which are of one session then,
// and which part of it was asked for.
type placed interface{ place(placement) }

// A skipping answer wants to know of the records that --activity or --during leaves out.
type skipping interface{ skip(*etw.Record) }

// A learning answer learns from all records that were not asked for which code there is.
type learning interface {
	rest() func(*etw.Record) error
}

// leave tells an inquiry which records the answer takes of those that are left out.
func leave(i *pick.Inquiry, a answer) {
	if x, ok := a.(skipping); ok {
		i.Skip = func(r *etw.Record) {
			if i.Parted {
				x.skip(r)
			}
		}
	}
	if x, ok := a.(learning); ok {
		i.Rest = x.rest()
	}
	if x, ok := a.(interface{ whole() *etw.Mux }); ok {
		i.Whole = x.whole()
	}
}

// A fitted answer is in another form for people than for programs.
type fitted interface {
	fit(p *show.Printer, who *pick.Names)
}

// An answer is an analysis, and how its result is printed.
type answer interface {
	// take takes the result, and reports whether there is anything in it.
	take() bool
	// result returns the value of the JSON.
	result() any
	// warnings says which numbers mislead, and why.
	warnings() []string
	// totals prints the text before the table.
	totals(p *page)
	// table returns the rows of a view, the most important first.
	table(view string, who *pick.Names) *show.Table
}

// A causal answer may choose the activities of --activity by itself, since it needs the records of all
// to know where their time went. It has these alone, or beside its own by a mux of its own.
type causal interface{ choosing() func([]filter.Glob) }

// A mistaken is an answer that knows whether flags name what the trace has not.
type mistaken interface{ mistake() error }

func mistakeOf(a answer, any bool) error {
	if x, ok := a.(mistaken); ok && any {
		return x.mistake()
	}
	return nil
}

// A chooser is an answer that leaves out the processes and threads that were not asked for by
// itself, since it needs the records of all.
type chooser interface {
	choose(*filter.Header)
}

// Command returns the command that asks the question.
func (q *Question) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:               q.name + " [flags] FILE...",
		Short:             q.short,
		Long:              q.Long + "\n\n" + commonLong,
		Example:           q.example,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE:              q.main,
	}
	f := cmd.Flags()
	rows := strings.Join(q.views, ", ")
	views := q.views
	for _, x := range q.others {
		f.BoolVar(&x.turned, x.name, false, x.short)
		f.Lookup(x.name).Annotations = map[string][]string{cli.Side: nil}
		rows += "; with --" + x.name + "\n" + strings.Join(x.views, ", ")
		views = slices.Compact(slices.Sorted(slices.Values(slices.Concat(views, x.views))))
	}
	f.StringVar(&q.by, "by", q.views[0], "the `ROWS` of the table: "+rows)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(views, cobra.ShellCompDirectiveNoFileComp)})
	if q.rooted || slices.Contains(q.views, byStack) {
		f.StringVar(&q.root, "root", "", "only calls of code that matches one of these `PATTERNS`, by the call stacks\nof events; etw help frames explains patterns")
		cli.Completions(cmd, map[string]cobra.CompletionFunc{"root": cobra.NoFileCompletions})
	}
	if q.flags != nil {
		q.flags(f)
	}
	q.scope.Later = q.stays
	q.rank.Flags(cmd, "")
	if !q.whole {
		f.Lookup("top").Usage = fmt.Sprintf("print only the first `N` rows; text and Markdown have %d if it is left out", show.RowsForPeople)
	}
	q.scope.Flags(cmd)
	if q.threaded != "" {
		q.scope.ThreadFlag(cmd, q.threaded)
	}
	q.Out.Flags(cmd)
	q.in.Flags(cmd)
	return cmd
}

// commonLong is the end of the help of all such commands.
const commonLong = `Text has the totals and a table, CSV, Markdown and lines of JSON the table that --by
names. JSON as one document has all that is known, whatever --by and --top say; its
names end in units, and its schema counts up if one of them goes or changes; with one
of these flags it also has the table, as rows. Times
are milliseconds since the session began, MB are 1,000,000 bytes, and - is a number
that the trace does not tell.`

// main runs the command.
func (q *Question) main(cmd *cobra.Command, args []string) error {
	if err := q.Check(cmd); err != nil {
		return err
	}
	a, err := cli.Kept(cmd, q.key(cmd, args), func() (*answered, error) { return q.read(cmd, args) })
	if err != nil {
		return err
	}
	defer a.t.Close()
	trouble := a.trouble
	if q.saves != nil && a.any {
		if saved, err := q.saves(cmd, args, a); saved || err != nil {
			return show.Written(cmd, a.t, err, trouble)
		}
	}
	p := q.Out.Open(cmd, false)
	err = q.print(cmd, p, a)
	if err == nil {
		err = p.Flush()
	}
	var none error
	if err == nil && !a.any && cmd.Context().Err() == nil {
		none = q.reportNone(cmd, a)
	}
	if show.ReportLosses(cmd, a.t) {
		trouble = cmp.Or(trouble, cli.ErrReported)
	}
	return p.Close(err, trouble, none)
}

// An answered is the findings of a question in traces.
type answered struct {
	*pick.Inquiry
	answer  answer
	t       *trace.Trace    // to be closed; counts and facts stay
	named   *frames.CodeMap // of the code, if the view shows some
	seen    *need.Seen      // which of the events that it is of there are
	kinds   kinds           // all that there are
	any     bool
	why     string // there is nothing, if more is known of that than what to record
	trouble error  // with a trace
}

// key has the inputs that an answer depends on. The look of its table does not count.
func (q *Question) key(cmd *cobra.Command, args []string) string {
	b := fmt.Appendf(nil, "question %s %v %s", q.name, q.needsCode(), cli.Stamps(args))
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(viewFlags, f.Name) || f.Name == "by" && (q.rooted || q.reads) {
			b = fmt.Appendf(b, " %s=%q", f.Name, f.Value.String())
		}
	})
	return string(b)
}

// viewFlags are the flags that choose the part of an answer to show.
var viewFlags = []string{"by", "sort", "reverse", "rows", "top", "format", "json"}

// read asks the traces.
func (q *Question) read(cmd *cobra.Command, args []string) (*answered, error) {
	if err := pick.RefuseCopies(args); err != nil {
		return nil, err
	}
	h, err := q.scope.Header(cmd, &q.in, args)
	if err = cmp.Or(err, q.checkScope()); err != nil { // also of a part of a trace
		return nil, err
	}
	t, trouble, err := q.in.Open(cmd, args, false)
	if err != nil {
		return nil, err
	}
	found := false
	defer func() {
		if !found {
			t.Close()
		}
	}()
	var mux etw.Mux
	if q.needsCode() {
		q.named = frames.NewCodeMap(nil)
	}
	answer, seen := q.ask(&mux), need.Follow(append(slices.Clone(q.Needs), need.Samples, need.Switches))
	var all kinds
	i := &pick.Inquiry{Cmd: cmd, Mux: &mux, Names: pick.NewNames(), All: func(r *etw.Record, e *etw.EventInfo) {
		seen.See(r)
		all.see(e)
	}}
	leave(i, answer)
	where, isPlaced := answer.(placed)
	q.widen(i, isPlaced, t, h)
	if isPlaced {
		if err := pick.OneSession(t); err != nil {
			return nil, err
		}
	}
	if q.named != nil {
		i.Also = &q.named.Mux
		if !q.rooted || q.root != "" { // else only samples need stacks, and they find their own
			if i.Source, err = frames.BindStacks(cmd, &q.in, t, args); err != nil {
				return nil, err
			}
		}
	}
	i.Asked, q.asked = h.Processes, *h
	prepare(answer, i, t, h)
	tellSoFar(cmd, answer, func() placement { return placementOf(i, t, h) })
	trouble = cmp.Or(trouble, i.Read(t, h))
	if isPlaced {
		where.place(placementOf(i, t, h))
	}
	if i.Wide {
		i.Span = i.Span.Cut(h, etw.FileTimeOf(t.Start()))
	}
	why := i.Span.WhyNone(&q.scope)
	any := answer.take() && why == ""
	sayPart(answer.result(), &i.Span, h, t)
	if err := mistakeOf(answer, any); err != nil {
		return nil, err
	}
	q.nameMethods(answer)
	if !any && cmd.Context().Err() == nil {
		if err := pick.CheckMet(cmd, &q.in, args, &q.asked); err != nil {
			return nil, err
		}
		why = cmp.Or(why, q.whyNotHere(i, args))
	}
	i.Cmd, found = nil, true
	return &answered{i, answer, t, q.named, seen, all, any, why, trouble}, nil
}

// check reads the flags that do not depend on the traces.
func (q *Question) check(cmd *cobra.Command) error {
	if err := q.Out.Check(cmd); err != nil {
		return err
	}
	if err := q.rank.Check(cmd); err != nil {
		return err
	}
	if !slices.Contains(q.views, q.by) {
		return cli.Usagef("--by %s: it is one of %s%s", q.by, strings.Join(q.views, ", "), cli.DidYouMean(q.by, q.views))
	}
	return cmp.Or(q.checkScope(), q.checkRoot(cmd))
}

// checkScope checks that the rows are of those processes and threads that there are.
func (q *Question) checkScope() error {
	switch {
	case !slices.Contains(q.everyones, q.by) || !q.scope.Parted():
		return nil
	case q.scope.Part == nil:
		return cli.Usagef("--by %s: these rows are of all processes and threads; leave --process and --tid out", q.by)
	}
	return cli.Usagef("--by %s: these rows are of all processes and threads, of which the trace is only a part", q.by)
}

// print prints the answer.
func (q *Question) print(cmd *cobra.Command, p *show.Printer, a *answered) error {
	if x, ok := a.answer.(fitted); ok {
		x.fit(p, a.Names)
	}
	warnings := append(a.Warnings(a.t), a.answer.warnings()...)
	if a.any {
		warnings = append(warnings, q.absent(a)...)
	}
	warnings = append(warnings, q.partial()...)
	var tab *show.Table
	if p.Format != show.FormatJSON || q.wantsRows(cmd) {
		tab = q.table(a)
		if err := q.rank.CheckColumn(tab.Columns); err != nil {
			return err
		}
	}
	if p.Format == show.FormatJSON {
		q.tell(cmd, p.About, a)
		p.About.Warn(warnings...)
		return show.WriteMore(p, a.answer.result(), q.rank.Rows("rows", tab), a.t.Stats().Lost)
	}
	if p.Format == show.FormatText {
		if !a.any {
			return nil
		}
		a.answer.totals(&page{Printer: p, names: a.Names, by: q.by})
		for _, w := range warnings {
			p.Note(w)
		}
	}
	chose := q.rank.Top > 0
	if q.whole && !chose {
		q.rank.Top = max(len(tab.Rows), 1)
	}
	all := len(tab.Rows)
	if all == 0 && p.Format == show.FormatText && cmd.Flags().Changed("by") {
		p.Note(fmt.Sprintf("--by %s has no rows: no event that is known to tell of any was recorded", q.by))
	}
	if err := q.rank.WriteFirst(p, tab); err != nil {
		return err
	}
	if tab.Chosen != "" && p.Format != show.FormatText && !chose {
		reportChosen(cmd, tab, all)
	}
	return nil
}

// absent says that the trace has an answer, but none of the events that it is of most.
func (q *Question) absent(a *answered) []string {
	for i := range q.Needs {
		if s := a.seen.Has(&q.Needs[i], false); s != need.Absent {
			return nil
		}
	}
	for i := range q.instead {
		if a.seen.Has(&q.instead[i], false) == need.Present {
			return nil
		}
	}
	var list []string
	for i := range q.Needs {
		list = append(list, q.Needs[i].Lack()+": a number of 0 does not tell")
	}
	return list
}

// wantsRows reports whether a document has the table, too: where its flags are given.
func (q *Question) wantsRows(cmd *cobra.Command) bool {
	return q.flat && !cli.ForAssistant(cmd) || slices.ContainsFunc([]string{"by", "sort", "reverse", "rows", "top"}, cmd.Flags().Changed)
}

// table returns the rows.
func (q *Question) table(a *answered) *show.Table {
	if q.isOfCode() {
		return rowsOfCode(a.named, a.answer, q.by, q.root)
	}
	return a.answer.table(q.by, a.Names)
}

// tell names the subject of an answer, and further questions.
func (q *Question) tell(cmd *cobra.Command, a *show.About, found *answered) {
	a.Of(found.t, false)
	if found.Inquiry.Trouble {
		a.ReadTo(cli.ErrReported)
	}
	a.Tell(q.Needs, found.seen)
	switch {
	case found.any:
		a.Follow(cmd, q.next...)
	case found.why != "":
		a.Warn(found.why)
	case q.missing != "":
		a.Warn(q.lack(found))
	default:
		a.Lack(q.Needs, found.t)
	}
	if !found.any {
		a.Warn(q.unread(found)...)
	}
}

// reportChosen says beside a table for programs that there is more than it has.
func reportChosen(cmd *cobra.Command, t *show.Table, all int) {
	if n := len(t.Rows); n < all {
		cli.Report(cmd, fmt.Errorf("the table has %d of the %s; --top %d has these", n, t.Chosen, all))
		return
	}
	cli.Report(cmd, fmt.Errorf("the table has the %s", t.Chosen))
}
