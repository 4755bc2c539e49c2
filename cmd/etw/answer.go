package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A question is a command that an analysis of the events of traces answers.
type question struct {
	name, short, long, example string
	views                      []string    // what the rows of the table can be, the default first
	needs                      []need.Need // what to record for it
	missing                    string      // what to say in place of needs
	whole                      bool        // people see all rows if they do not say how many
	rooted                     bool        // --root is for all views
	ask                        func(mux *etw.Mux) answer

	in    input
	scope scope
	out   output
	rank  ranking
	by    string
	root  string   // only what this code calls
	named *codeMap // what names code, if it is asked for
}

// A timed answer wants to know the time between two samples in nanoseconds, 0 if the head
// of the trace does not tell it.
type timed interface{ samplesEach(ns int64) }

// A placed answer wants to know where in time the traces are, which are of one session
// then, and what of it was asked for.
type placed interface{ place(placement) }

// A skipping answer wants to know of the records that --activity leaves out.
type skipping interface{ skip(*etw.Record) }

// A fitted answer is in another form for people than for programs.
type fitted interface {
	fit(p *printer, who *names)
}

// An answer is an analysis, and how its result is printed.
type answer interface {
	// take takes the result, and reports whether there is anything in it.
	take() bool
	// result returns what JSON has.
	result() any
	// warnings says which numbers are not what they seem.
	warnings() []string
	// totals prints what stands before the table.
	totals(p *page)
	// table returns the rows of a view, the most important first.
	table(view string, who *names) *table
}

// A chooser is an answer that leaves out the processes that were not asked for by
// itself, since it needs the records of all.
type chooser interface {
	choose(processes filter.Numbers)
}

// rowsForPeople is how many rows of a table people get to see if they do not say.
const rowsForPeople = 20

func (q *question) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:               q.name + " [flags] FILE...",
		Short:             q.short,
		Long:              q.long + "\n\n" + commonLong,
		Example:           q.example,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTraces,
		RunE:              q.main,
	}
	f := cmd.Flags()
	f.StringVar(&q.by, "by", q.views[0], "what the `ROWS` of the table are: "+strings.Join(q.views, ", "))
	completions(cmd, map[string]cobra.CompletionFunc{"by": cobra.FixedCompletions(q.views, cobra.ShellCompDirectiveNoFileComp)})
	if q.rooted || slices.Contains(q.views, byStack) {
		f.StringVar(&q.root, "root", "", "only what code that matches one of these `PATTERNS` calls, by the call stacks\nof events; etw top --help explains patterns")
		completions(cmd, map[string]cobra.CompletionFunc{"root": cobra.NoFileCompletions})
	}
	q.rank.flags(cmd, "")
	if !q.whole {
		f.Lookup("top").Usage = fmt.Sprintf("print only the first `N` rows; text and Markdown have %d if it is left out", rowsForPeople)
	}
	q.scope.flags(cmd)
	q.out.flags(cmd)
	q.in.flags(cmd)
	return cmd
}

// commonLong is what the help of all such commands ends with.
const commonLong = `Text has the totals and a table, CSV, Markdown and lines of JSON the table that --by
names. JSON as one document has all that is known, whatever --by and --top say; its
names end in units, and its schema counts up if one of them goes or changes; with one
of these flags it also has the table, as rows. Times
are milliseconds since the session began, MB are 1,000,000 bytes, and - is a number
that the trace does not tell.`

// main runs the command.
func (q *question) main(cmd *cobra.Command, args []string) error {
	if err := q.check(cmd); err != nil {
		return err
	}
	a, err := kept(cmd, q.key(cmd, args), func() (*answered, error) { return q.read(cmd, args) })
	if err != nil {
		return err
	}
	defer a.t.Close()
	trouble := a.trouble
	p := q.out.open(cmd, false)
	err = q.print(cmd, p, a)
	if err == nil {
		err = p.Flush()
	}
	if err == nil && !a.any && cmd.Context().Err() == nil {
		q.reportNone(cmd, a.why)
	}
	if reportLosses(cmd, a.t) {
		trouble = cmp.Or(trouble, errReported)
	}
	return p.close(err, trouble)
}

// An answered is what a question found in traces.
type answered struct {
	*inquiry
	t       *trace.Trace // to be closed; counts and facts stay
	named   *codeMap     // of the code, if the view shows some
	any     bool
	why     string // there is nothing, if more is known of that than what to record
	trouble error  // with a trace
}

// key says what an answer depends on. What its table shows does not count.
func (q *question) key(cmd *cobra.Command, args []string) string {
	b := fmt.Appendf(nil, "question %s %v %s", q.name, q.needsCode(), stamps(args))
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(viewFlags, f.Name) || f.Name == "by" && q.rooted {
			b = fmt.Appendf(b, " %s=%q", f.Name, f.Value.String())
		}
	})
	return string(b)
}

// viewFlags are the flags that say what is shown of an answer.
var viewFlags = []string{"by", "sort", "reverse", "top", "format", "json"}

// read asks the traces.
func (q *question) read(cmd *cobra.Command, args []string) (*answered, error) {
	if err := refuseCopies(args); err != nil {
		return nil, err
	}
	h, err := q.scope.header(cmd, &q.in, args)
	if err != nil {
		return nil, err
	}
	t, trouble, err := q.in.open(cmd, args, false)
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
		q.named = newCodeMap(nil)
	}
	i := &inquiry{cmd: cmd, mux: &mux, answer: q.ask(&mux), names: newNames()}
	if x, ok := i.answer.(skipping); ok {
		i.skip = x.skip
	}
	where, isPlaced := i.answer.(placed)
	if i.wide = isPlaced; isPlaced {
		if err := oneSession(t); err != nil {
			return nil, err
		}
	}
	if q.named != nil {
		i.also = &q.named.mux
		if i.source, err = q.in.bindStacks(cmd, t, args); err != nil {
			return nil, err
		}
	}
	i.asked = h.Processes
	if c, ok := i.answer.(chooser); ok {
		c.choose(h.Processes)
		h.Processes = nil
	}
	if x, ok := i.answer.(timed); ok {
		x.samplesEach(samplingInterval(t))
	}
	if err := i.read(t, h); err != nil {
		trouble = cmp.Or(trouble, err)
	}
	if isPlaced {
		where.place(i.placementOf(t, h))
	}
	why := i.whyNone(q)
	any := i.answer.take() && why == ""
	if !any && cmd.Context().Err() == nil {
		why = cmp.Or(why, q.whyNotHere(i, args))
	}
	i.cmd, found = nil, true
	return &answered{i, t, q.named, any, why, trouble}, nil
}

// check reads the flags that do not depend on the traces.
func (q *question) check(cmd *cobra.Command) error {
	if err := q.out.check(cmd); err != nil {
		return err
	}
	if err := q.rank.check(cmd); err != nil {
		return err
	}
	if !slices.Contains(q.views, q.by) {
		return usagef("--by %s: it is one of %s%s", q.by, strings.Join(q.views, ", "), didYouMean(q.by, q.views))
	}
	return q.checkRoot(cmd)
}

// print prints the answer.
func (q *question) print(cmd *cobra.Command, p *printer, a *answered) error {
	if x, ok := a.answer.(fitted); ok {
		x.fit(p, a.names)
	}
	warnings := append(a.warnings(a.t), a.answer.warnings()...)
	var tab *table
	if p.format != formatJSON || q.wantsRows(cmd) {
		tab = q.table(a)
		if err := q.rank.checkColumn(tab.columns); err != nil {
			return err
		}
	}
	if p.format == formatJSON {
		q.tell(cmd, p.about, a)
		p.about.warn(warnings...)
		return writeMore(p, a.answer.result(), q.rank.rows("rows", tab), a.t.Stats().Lost)
	}
	if p.format == formatText {
		if !a.any {
			return nil
		}
		a.answer.totals(&page{printer: p, names: a.names, by: q.by})
		for _, w := range warnings {
			p.note(w)
		}
	}
	chose := q.rank.top > 0
	if q.whole && !chose {
		q.rank.top = max(len(tab.rows), 1)
	}
	all := len(tab.rows)
	if err := q.rank.writeFirst(p, tab); err != nil {
		return err
	}
	if tab.chosen != "" && p.format != formatText && !chose {
		reportChosen(cmd, tab, all)
	}
	return nil
}

// wantsRows reports whether a document has the table, too: where its flags are given.
func (q *question) wantsRows(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"by", "sort", "reverse", "top"}, cmd.Flags().Changed)
}

// table returns the rows.
func (q *question) table(a *answered) *table {
	if q.isOfCode() {
		return a.named.rows(a.answer, q.by, q.root)
	}
	return a.answer.table(q.by, a.names)
}

// rows returns the rows that were asked for as a field of a document.
func (r *ranking) rows(name string, t *table) string {
	if t == nil {
		return ""
	}
	r.apply(t, true)
	t.shown(func(c column) bool { return !c.text })
	b := fmt.Appendf(nil, `,"%s":[`, name)
	for i, row := range t.rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.object(b, row)
	}
	return string(append(b, ']'))
}

// tell says what an answer is about, and what to ask next.
func (q *question) tell(cmd *cobra.Command, a *about, found *answered) {
	a.of(found.t, false)
	if found.inquiry.trouble {
		a.readTo(errReported)
	}
	switch {
	case found.any:
		a.follow(cmd)
	case found.why != "":
		a.warn(found.why)
	case q.missing != "":
		a.warn(q.missing)
	default:
		a.lack(q.needs)
	}
}

// reportChosen says beside a table for programs that there is more than it has.
func reportChosen(cmd *cobra.Command, t *table, all int) {
	if n := len(t.rows); n < all {
		report(cmd, fmt.Errorf("the table has %d of the %s; --top %d has these", n, t.chosen, all))
		return
	}
	report(cmd, fmt.Errorf("the table has the %s", t.chosen))
}

// writeFirst prints the rows that were asked for. Of a table for people that is
// longer than they asked for, a line says how much longer.
func (r *ranking) writeFirst(p *printer, t *table) error {
	all, rank := len(t.rows), *r
	forPeople := p.format == formatText || p.format == formatMD
	if rank.top == 0 && forPeople {
		rank.top = rowsForPeople
	}
	rank.apply(t, true)
	shown := len(t.rows)
	if p.format == formatText {
		if all == 0 {
			return nil
		}
		fmt.Fprintln(p)
	}
	if err := t.write(p); err != nil {
		return err
	}
	if text := t.extent(shown, all); text != "" && p.format == formatText {
		_, err := fmt.Fprintln(p, string(p.paint(nil, colorDim, text)))
		return err
	}
	return nil
}

// extent says how many rows are shown, if there are more.
func (t *table) extent(shown, all int) string {
	switch {
	case t.chosen != "" && shown < all:
		return fmt.Sprintf("%d of the %s; --top %d shows these", shown, t.chosen, all)
	case t.chosen != "":
		return "the " + t.chosen
	case shown < all:
		return fmt.Sprintf("%d of %d rows; --top %[2]d shows all", shown, all)
	}
	return ""
}

// writeContract prints a result of a trace as JSON, with what was lost of it.
func writeContract(p *printer, result any, lost int64) error { return writeMore(p, result, "", lost) }

// writeMore is writeContract with more fields behind those of the result.
func writeMore(p *printer, result any, more string, lost int64) error {
	return writeDocument(p, result, fmt.Sprintf(`%s,"lost":%d`, more, lost))
}

// writeDocument prints a result as JSON: its own fields, more of them, and what all
// commands have beside it. A result without a schema is of the first one.
func writeDocument(p *printer, result any, more string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		return err
	}
	own := strings.TrimSuffix(strings.TrimSpace(b.String()), "}")
	if fields := own[1:]; !strings.HasPrefix(fields, `"schema":`) {
		own = strings.TrimSuffix(`{"schema":1,`+fields, ",")
	}
	text := appendSafeJSON(nil, []byte(own+more+","))
	_, err := p.Write(append(p.about.append(text), "}\n"...))
	return err
}
