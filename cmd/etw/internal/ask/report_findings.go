package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/findings"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// A ReportDoc is the JSON of a report: the findings, the worst first.
type ReportDoc struct {
	Schema   int              `json:"schema"`
	Findings []processFinding `json:"findings"`
}

// A processFinding is a finding with the name of its process.
type processFinding struct {
	findings.Finding
	Process string `json:"process,omitempty"`
}

// partCommands are the commands that show more of parts that are not called as they are.
var partCommands = map[string]string{"alloc": "allocs", "contention": "waits --locks", "cpu": "top", "interrupts": "threads --by interrupt", "disk": "files --disks", "faults": "files --faults", "stacks": "top --by stack --as-sampled"}

// printFindings prints the findings in a trace.
func (r *reporting) printFindings(cmd *cobra.Command, paths []string, x *examined, trouble error) error {
	list := append(findings.Of(x.res), x.sampler.Findings()...)
	if m := x.machine.machine(&x.chosen); m != nil {
		list = append(list, m.Findings()...)
	}
	findings.Sort(list)
	x.programs.Names.Join()
	about := &r.out.About
	about.Of(x.t, false)
	about.ReadTo(trouble)
	about.Tell(analysis.Needs, x.seen)
	about.Warn(slices.Concat(x.warnings, x.res.Warnings)...)
	asked, words := make(map[string]bool), make([]string, len(paths))
	for i, path := range paths {
		words[i] = show.ShellWord(path)
	}
	for _, f := range list {
		if f.Part != "" && !asked[f.Part] {
			asked[f.Part] = true
			about.Suggest(fmt.Sprintf("etw %s %s", cmp.Or(partCommands[f.Part], f.Part), strings.Join(words, " ")), f.Text)
		}
	}
	p := r.out.Open(cmd, false)
	err := x.write(p, list)
	if err == nil {
		err = p.Flush()
	}
	if show.ReportLosses(cmd, x.t) {
		trouble = cmp.Or(trouble, cli.ErrReported)
	}
	return p.Close(err, trouble)
}

// write prints findings in any format.
func (x *examined) write(p *show.Printer, list []findings.Finding) error {
	names := x.programs.Names
	switch p.Format {
	case show.FormatText:
		x.say(&page{Printer: p, names: names}, list)
		return nil
	case show.FormatJSON:
		doc := ReportDoc{1, []processFinding{}}
		for _, f := range list {
			name := f.Process
			if f.PID != 0 { // or it is of the whole trace
				name = cmp.Or(name, names.Processes[f.PID])
			}
			doc.Findings = append(doc.Findings, processFinding{f, name})
		}
		return show.WriteContract(p, doc, x.t.Stats().Lost)
	}
	return pick.Table(findings.Table(list), names).Write(p)
}

// say prints findings for people, process by process: that with the worst one first.
func (x *examined) say(p *page, list []findings.Finding) {
	for _, text := range p.About.Warnings {
		p.Note(text)
	}
	if len(list) == 0 {
		p.title("nothing stands out")
	}
	type runtime struct {
		pid     int64
		clr     uint16
		life    int
		process string
	}
	of := make(map[runtime][]findings.Finding)
	var runtimes []runtime
	for _, f := range list {
		k := runtime{f.PID, f.CLRInstance, f.Life, f.Process}
		if of[k] == nil {
			runtimes = append(runtimes, k)
		}
		of[k] = append(of[k], f)
	}
	for _, k := range runtimes {
		if k.pid == 0 {
			p.title("the trace")
		} else {
			p.program(k.pid, k.clr, k.process)
		}
		for _, f := range of[k] {
			p.line(string(f.Severity), "%s", f.Text)
		}
	}
	next := order.Delete(slices.Clone(p.About.Next), func(s show.Suggestion) bool { return s.Command == "" })
	for i, s := range next {
		if i == 0 {
			p.title("more of it")
		}
		p.Prose(show.ColorDim, "  "+cli.Clean(s.Command), 4)
	}
}
