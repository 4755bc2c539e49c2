package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/findings"
)

// A reportDoc is what JSON has of a report: what stands out, the worst first.
type reportDoc struct {
	Schema   int              `json:"schema"`
	Findings []processFinding `json:"findings"`
}

// A processFinding is a finding with the name of its process.
type processFinding struct {
	findings.Finding
	Process string `json:"process,omitempty"`
}

// partCommands are the commands that show more of parts that are not called as they are.
var partCommands = map[string]string{"alloc": "allocs", "cpu": "top"}

// printFindings prints what stands out in a trace.
func (r *reporting) printFindings(cmd *cobra.Command, path string, x *examined, trouble error) error {
	list := append(findings.Of(x.res), x.sampler.findings()...)
	findings.Sort(list)
	about := &r.out.about
	about.of(x.t, false)
	about.readTo(trouble)
	about.warn(slices.Concat(x.warnings, x.res.Warnings)...)
	asked := make(map[string]bool)
	for _, f := range list {
		if f.Part != "" && !asked[f.Part] {
			asked[f.Part] = true
			about.suggest(fmt.Sprintf("etw %s %s", cmp.Or(partCommands[f.Part], f.Part), shellWord(path)), f.Text)
		}
	}
	p := r.out.open(cmd, false)
	err := x.write(p, list)
	if err == nil {
		err = p.Flush()
	}
	if reportLosses(cmd, x.t) {
		trouble = cmp.Or(trouble, errReported)
	}
	return p.close(err, trouble)
}

// write prints findings in any format.
func (x *examined) write(p *printer, list []findings.Finding) error {
	names := x.programs.names
	switch p.format {
	case formatText:
		x.say(&page{printer: p, names: names}, list)
		return nil
	case formatJSON:
		doc := reportDoc{1, []processFinding{}}
		for _, f := range list {
			doc.Findings = append(doc.Findings, processFinding{f, names.processes[f.PID]})
		}
		return writeContract(p, doc, x.t.Stats().Lost)
	}
	return tableOf(findings.Table(list), names).write(p)
}

// say prints findings for people, process by process: that with the worst one first.
func (x *examined) say(p *page, list []findings.Finding) {
	for _, text := range p.about.Warnings {
		p.note(text)
	}
	if len(list) == 0 {
		p.title("nothing stands out")
	}
	type runtime struct {
		pid  int64
		clr  uint16
		life int
	}
	of := make(map[runtime][]findings.Finding)
	var order []runtime
	for _, f := range list {
		k := runtime{f.PID, f.CLRInstance, f.Life}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], f)
	}
	for _, k := range order {
		if k.pid == 0 {
			p.title("the trace")
		} else {
			p.runtime(k.pid, k.clr)
		}
		for _, f := range of[k] {
			p.line(string(f.Severity), "%s", f.Text)
		}
	}
	next := slices.DeleteFunc(slices.Clone(p.about.Next), func(s suggestion) bool { return s.Command == "" })
	for i, s := range next {
		if i == 0 {
			p.title("more of it")
		}
		p.prose(colorDim, "  "+clean(s.Command), 4)
	}
}
