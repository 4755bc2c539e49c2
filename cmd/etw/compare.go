package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newCompare returns the command that sets two traces side by side.
func newCompare() *cobra.Command {
	c := new(compare)
	cmd := &cobra.Command{
		Use:   "compare [flags] A B",
		Short: "Set two traces side by side, differences first",
		Long: `Compare asks two traces of .NET programs all questions, and sets the answers side by
side: pauses, collections, allocations and their types, exceptions, compilations, waits,
requests, counters and the heap. CHANGE PERCENT is how B differs from A; what differs
most comes first, and last what only one of the traces was recorded with; what is equal
is left out unless --all is given. A number that one of them does not have is shown as -.

Numbers are of all processes that are asked for, together. Traces of different length
have different sums: compare shares and means of these, or parts of them by --from and
--to.`,
		Example: `  etw compare gc.nettrace alloc.nettrace
  etw compare --all --format csv gc.nettrace alloc.nettrace
  etw compare --format json gc.nettrace alloc.nettrace | jq '.measures[0].name'`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: completeTraces,
		RunE:              c.main,
	}
	f := cmd.Flags()
	f.BoolVar(&c.all, "all", false, "show what is equal, too")
	c.rank.flags(cmd, "changePercent", "area", "name")
	f.Lookup("top").Usage = fmt.Sprintf("print only the first `N` rows; text and Markdown have %d if it is left out", rowsForPeople)
	c.scope.flags(cmd)
	c.out.flags(cmd)
	c.in.flags(cmd)
	return cmd
}

// A compare holds the flags of the command.
type compare struct {
	all   bool
	in    input
	scope scope
	out   output
	rank  ranking
}

func (c *compare) main(cmd *cobra.Command, args []string) error {
	if err := c.out.check(cmd); err != nil {
		return err
	}
	if err := c.rank.check(cmd); err != nil {
		return err
	}
	var trouble error
	var sides [2]*side
	for i, path := range args {
		s, err := c.read(cmd, path)
		if err != nil {
			return err
		}
		trouble = cmp.Or(trouble, s.trouble)
		sides[i] = s
	}
	rows := compared(sides[0].measures, sides[1].measures)
	if !c.all {
		rows = slices.DeleteFunc(rows, func(r comparison) bool { return r.equal() })
	}
	p := c.out.open(cmd, false)
	for i, s := range sides {
		for _, w := range s.warnings {
			p.about.warn(fmt.Sprintf("%c: %s", 'A'+i, w))
		}
	}
	p.about.suggest(fmt.Sprintf("etw top --diff %s %s", shellWord(args[0]), shellWord(args[1])), "which methods have changed")
	return p.close(c.print(p, args, sides, rows), trouble)
}

// A side is one of the two traces.
type side struct {
	measures []figure
	warnings []string
	lost     int64
	trouble  error
}

// read asks a trace everything.
func (c *compare) read(cmd *cobra.Command, path string) (*side, error) {
	h, err := c.scope.header(cmd, &c.in, []string{path})
	if err != nil {
		return nil, err
	}
	t, trouble, err := c.in.open(cmd, []string{path}, false)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var mux etw.Mux
	set := analysis.New(&mux)
	i := &inquiry{cmd: cmd, mux: &mux, names: newNames()}
	if err := i.read(t, h); err != nil {
		trouble = cmp.Or(trouble, err)
	}
	if reportLosses(cmd, t) {
		trouble = cmp.Or(trouble, errReported)
	}
	c.out.about.of(t, false)
	c.out.about.readTo(trouble)
	res := set.Result()
	s := &side{figures(res), i.warnings(t), t.Stats().Lost, trouble}
	for _, w := range res.Warnings {
		if !slices.Contains(s.warnings, w) {
			s.warnings = append(s.warnings, w)
		}
	}
	return s, nil
}

// A figure is one number of a trace.
type figure struct {
	Area  string
	Name  string
	Value float64
}

// A comparison is one number of both.
type comparison struct {
	Area          string   `json:"area"`
	Name          string   `json:"name"`
	A             *float64 `json:"a"`
	B             *float64 `json:"b"`
	ChangePercent *float64 `json:"changePercent"`
	order         int
}

func (c *comparison) equal() bool { return c.A != nil && c.B != nil && *c.A == *c.B }

// weight says how much the two differ: 1 if one is missing or nothing.
func (c *comparison) weight() float64 {
	if c.A == nil || c.B == nil {
		return 1
	}
	most := max(math.Abs(*c.A), math.Abs(*c.B))
	if most == 0 {
		return 0
	}
	return math.Abs(*c.B-*c.A) / most
}

// compared pairs the numbers, those that differ most first.
func compared(a, b []figure) []comparison {
	type key struct{ area, name string }
	index := map[key]int{}
	var rows []comparison
	at := func(f *figure) *comparison {
		k := key{f.Area, f.Name}
		i, ok := index[k]
		if !ok {
			i = len(rows)
			index[k] = i
			rows = append(rows, comparison{Area: f.Area, Name: f.Name, order: i})
		}
		return &rows[i]
	}
	for i := range a {
		at(&a[i]).A = &a[i].Value
	}
	for i := range b {
		r := at(&b[i])
		r.B = &b[i].Value
		if r.A != nil && *r.A != 0 {
			change := 100 * (*r.B - *r.A) / math.Abs(*r.A)
			r.ChangePercent = &change
		}
	}
	both := map[string]bool{}
	for _, r := range rows {
		both[r.Area] = both[r.Area] || r.A != nil && r.B != nil
	}
	slices.SortStableFunc(rows, func(x, y comparison) int {
		return cmp.Or(before(both[x.Area], both[y.Area]), cmp.Compare(y.weight(), x.weight()), cmp.Compare(x.order, y.order))
	})
	return rows
}

// before compares areas: those that both traces have come first, as the others differ
// by what was recorded.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// print prints the rows.
func (c *compare) print(p *printer, args []string, sides [2]*side, rows []comparison) error {
	if p.format == formatJSON {
		if rows == nil {
			rows = []comparison{}
		}
		return writeDocument(p, struct {
			Schema   int          `json:"schema"`
			A        string       `json:"a"`
			B        string       `json:"b"`
			LostA    int64        `json:"lostA"`
			LostB    int64        `json:"lostB"`
			Measures []comparison `json:"measures"`
		}{1, args[0], args[1], sides[0].lost, sides[1].lost, rows}, "")
	}
	t := newTable(measured("a", 3), measured("b", 3), measured("changePercent", 1), label("area"), label("name"))
	for _, r := range rows {
		t.add(optional(r.A), optional(r.B), optional(r.ChangePercent), r.Area, r.Name)
	}
	if err := c.rank.checkColumn(t.columns); err != nil {
		return err
	}
	if p.format == formatText {
		fmt.Fprintf(p, "A is %s, B is %s\n", clean(args[0]), clean(args[1]))
		for i, s := range sides {
			for _, w := range s.warnings {
				p.note(fmt.Sprintf("%c: %s", 'A'+i, w))
			}
		}
		if len(rows) == 0 {
			_, err := fmt.Fprintln(p, "no number differs")
			return err
		}
	}
	return c.rank.writeFirst(p, t)
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return exact(*v)
}

// figures returns the numbers of a result that can be compared.
func figures(r *analysis.Result) []figure {
	var list []figure
	add := func(area, name string, v float64) { list = append(list, figure{area, name, v}) }
	if len(r.GC.Runtimes) > 0 {
		list = append(list, gcFigures(r.GC)...)
	}
	if len(r.Alloc.Runtimes) > 0 {
		add("allocations", "bytes", r.Alloc.Bytes)
		for _, t := range r.Alloc.Types {
			add("allocations", "bytes of "+t.Type, t.Bytes)
		}
	}
	if len(r.Exceptions.Runtimes) > 0 {
		add("exceptions", "count", float64(r.Exceptions.Count))
		for _, t := range r.Exceptions.Types {
			add("exceptions", "count of "+t.Type, float64(t.Count))
		}
	}
	if len(r.JIT.Runtimes) > 0 {
		add("compiling", "count", float64(r.JIT.Count))
		add("compiling", "exclusiveMs", r.JIT.ExclusiveMS)
		add("compiling", "inclusiveMs", r.JIT.InclusiveMS)
	}
	if len(r.Contention.Runtimes) > 0 {
		add("contention", "count", float64(r.Contention.Count))
		add("contention", "totalMs", r.Contention.TotalMS)
	}
	if len(r.Waits.Runtimes) > 0 {
		add("waits", "count", float64(r.Waits.Count))
		add("waits", "totalMs", r.Waits.TotalMS)
	}
	if len(r.ThreadPool.Runtimes) > 0 {
		workers, starving := 0, 0
		for _, rt := range r.ThreadPool.Runtimes {
			workers = max(workers, rt.MaxWorkers)
			if rt.Starvation != nil {
				starving++
			}
		}
		add("thread pool", "maxWorkers", float64(workers))
		add("thread pool", "runtimes that starve", float64(starving))
	}
	list = append(list, heapFigures(r.Heap)...)
	return append(list, overTime(r)...)
}

// gcFigures sums up the collections of all runtimes.
func gcFigures(r *gc.Result) []figure {
	var count, induced int
	var byGeneration [3]int
	var pause, longest, allocated, promoted, peak float64
	for _, rt := range r.Runtimes {
		count += rt.Count
		induced += rt.All.Induced
		pause += rt.PauseMS
		allocated += rt.All.AllocatedMB
		promoted += rt.All.PromotedMB
		longest = max(longest, rt.All.PauseMS.Max.Or(0))
		peak = max(peak, rt.All.MaxPeakMB.Or(0))
		for i := range byGeneration {
			byGeneration[i] += rt.ByGeneration[i].Count
		}
	}
	list := []figure{{"collections", "count", float64(count)}, {"collections", "pauseMs", pause}, {"collections", "maxPauseMs", longest},
		{"collections", "maxPeakMB", peak}, {"collections", "allocatedMB", allocated}, {"collections", "promotedMB", promoted}, {"collections", "induced", float64(induced)}}
	for i, n := range byGeneration {
		list = append(list, figure{"collections", fmt.Sprintf("count of generation %d", i), float64(n)})
	}
	return list
}

// heapFigures are of the last snapshot.
func heapFigures(r *heap.Result) []figure {
	if len(r.Snapshots) == 0 {
		return nil
	}
	s := r.Snapshots[len(r.Snapshots)-1]
	list := []figure{{"heap", "objects", float64(s.Objects)}, {"heap", "bytes", float64(s.Bytes)}, {"heap", "reachableBytes", float64(s.ReachableBytes)}}
	for _, t := range s.Types {
		list = append(list, figure{"heap", "bytes of " + t.Type, float64(t.Bytes)})
	}
	return list
}

// overTime are the numbers of requests and counters. Of several processes with the
// same one, the first counts.
func overTime(r *analysis.Result) []figure {
	var list []figure
	seen := map[string]bool{}
	add := func(area, name string, v float64) {
		if !seen[area+"\x00"+name] {
			seen[area+"\x00"+name] = true
			list = append(list, figure{area, name, v})
		}
	}
	for _, p := range r.Requests.Processes {
		for _, t := range p.Tasks {
			name := t.Provider + "/" + t.Task
			add("requests", "count of "+name, float64(t.Count))
			add("requests", "errors of "+name, float64(t.Errors))
			if v, ok := t.DurationMS.Mean.Get(); ok {
				add("requests", "mean ms of "+name, v)
				add("requests", "p95 ms of "+name, t.DurationMS.P95.Or(v))
			}
		}
	}
	counters := &counterAnswer{res: r.Counters}
	for _, c := range counters.rows() {
		var sum float64
		n := 0
		for _, x := range c.points {
			if v, ok := x.value.Get(); ok {
				sum += v
				n++
			}
		}
		if n > 0 {
			add("counters", "mean "+c.of+" of "+c.provider+"/"+c.name+" "+c.tags, sum/float64(n))
		}
	}
	return list
}
