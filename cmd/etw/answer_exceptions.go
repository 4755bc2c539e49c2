package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/exceptions"
	quantity "github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
)

// newExceptions returns the command that shows what was thrown.
func newExceptions() *cobra.Command {
	return (&question{
		name:  "exceptions",
		short: "Show which exceptions were thrown",
		long: `Exceptions shows which exceptions a .NET program threw, and which blocks of code
handled them.

The rows are types, or what --by says: the methods or call stacks that throw, messages,
exceptions in the order in which they were thrown, threads, handlers, processes, or
intervals of time. Methods are those that called the runtime's to throw. Of each
process the first thousand exceptions are listed one by one.`,
		example: `  etw exceptions exceptions.nettrace
  etw exceptions --by message --top 3 exceptions.nettrace
  etw exceptions --by exception --format csv exceptions.nettrace
  etw exceptions --format json exceptions.nettrace | jq '.types[0].count'`,
		views: []string{"type", byMethod, byStack, "message", "exception", "thread", "handler", "process", "time"},
		needs: exceptions.NeedsHandling,
		ask:   func(mux *etw.Mux) answer { return &exceptionAnswer{analysis: exceptions.New(mux)} },
	}).recorded(recordedFor, nil)
}

type exceptionAnswer struct {
	analysis *exceptions.Analysis
	res      *exceptions.Result
}

func (a *exceptionAnswer) take() bool {
	a.res = a.analysis.Result()
	return len(a.res.Runtimes) > 0
}

func (a *exceptionAnswer) result() any        { return a.res }
func (a *exceptionAnswer) warnings() []string { return nil }

func (a *exceptionAnswer) samples() []*stacks.Samples { return a.analysis.Samples() }

func (a *exceptionAnswer) machinery() []string { return throwingCode }

func (a *exceptionAnswer) totals(p *page) {
	if len(a.res.Runtimes) > fewRuntimes {
		p.title(fmt.Sprintf("%s in %d runtimes", count(a.res.Count, "exception", "exceptions"), len(a.res.Runtimes)))
		return
	}
	for _, rt := range a.res.Runtimes {
		p.runtime(rt.PID, rt.CLRInstance)
		p.line("thrown", "%d, of them %d thrown again", rt.Count, rt.Rethrown)
		p.line("handled by", "%d catch, %d finally and %d filter blocks", rt.Catches, rt.Finallys, rt.Filters)
		if rt.HandlingMS.Count > 0 {
			p.line("handling took", "%s", spread(&rt.HandlingMS))
		}
	}
}

func (a *exceptionAnswer) table(view string, who *names) *table {
	switch view {
	case "message":
		return a.messages(who)
	case "exception":
		return a.thrown(who)
	case "thread":
		return a.threads(who)
	case "handler":
		return a.handlers(who)
	case "process":
		return a.processes(who)
	case "time":
		var list []owned[*quantity.Series]
		for _, rt := range a.res.Runtimes {
			list = append(list, owned[*quantity.Series]{rt.PID, &rt.Series})
		}
		return seriesTable(list, who, "")
	}
	t := newTable(counted("count"), counted("rethrown"), label("type"))
	for _, x := range a.res.Types {
		t.add(whole(x.Count), whole(x.Rethrown), x.Type)
	}
	return t
}

func (a *exceptionAnswer) several() bool { return len(a.res.Runtimes) > 1 }

func (a *exceptionAnswer) messages(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), label("type"), label("message"))...)
	for _, rt := range a.res.Runtimes {
		for _, m := range rt.Messages {
			t.add(append(who.processCells(rt.PID), whole(m.Count), m.Type, m.Message)...)
		}
	}
	return t
}

func (a *exceptionAnswer) thrown(who *names) *table {
	t := newTable(append(processColumns(a.several()), moment("atMs"), idColumn("thread"), label("type"), label("message"), label("hresult"), label("flags"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Thrown {
			t.add(append(who.processCells(rt.PID), exact(x.AtMS), whole(x.Thread), x.Type, x.Message, fmt.Sprintf("0x%08x", uint32(x.HResult)), x.Flags)...)
		}
	}
	t.choose("first", len(t.rows), a.res.Count, "exceptions", a.several())
	return t
}

// threads counts the exceptions of each thread.
func (a *exceptionAnswer) threads(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), idColumn("thread"), label("name"))...)
	for _, rt := range a.res.Runtimes {
		for _, x := range rt.Threads {
			t.add(append(who.processCells(rt.PID), whole(x.Count), whole(x.Thread), who.threads[x.Thread])...)
		}
	}
	return t
}

func (a *exceptionAnswer) handlers(who *names) *table {
	t := newTable(append(processColumns(a.several()), counted("count"), msColumn("ms"), label("kind"), label("method"))...)
	for _, rt := range a.res.Runtimes {
		for _, h := range rt.Handlers {
			t.add(append(who.processCells(rt.PID), whole(h.Count), exact(h.MS), h.Kind, h.Method)...)
		}
	}
	return t
}

func (a *exceptionAnswer) processes(who *names) *table {
	t := newTable(append(processColumns(true), counted("count"), counted("rethrown"), counted("catches"), counted("finallys"), counted("filters"))...)
	for _, rt := range a.res.Runtimes {
		t.add(append(who.processCells(rt.PID), whole(rt.Count), whole(rt.Rethrown), whole(rt.Catches), whole(rt.Finallys), whole(rt.Filters))...)
	}
	return t
}
