package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A topMode shows what methods of a live process weigh, interval by interval.
type topMode struct {
	*top
	live     liveMode
	interval time.Duration

	providers []eventpipe.Provider
	code      *codeMap
	kind      sampling
	finish    func() gathered // of the analysis of the interval
	mux       *etw.Mux
	names     *names
	lambdas   lambdas // with the same numbers in all tables
	out       *printer
	rows      *stream
	end       time.Time // of the interval
}

// codeProviders log the methods that are compiled while a session goes on (keywords
// Loader, Jit and NGen), and the compiled ones that are looked up (CompilationDiagnostic).
var codeProviders = []eventpipe.Provider{{Name: need.CLR, Keywords: 0x2000000038, Level: etw.LevelVerbose}}

func (m *topMode) add(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().DurationVar(&m.interval, "interval", 3*time.Second, "of a live process, what a table is of: a `TIME` from 100ms on")
	completions(cmd, map[string]cobra.CompletionFunc{"interval": cobra.NoFileCompletions})
	m.live.run = m.main
	return m.live.add(cmd)
}

func (m *topMode) main(cmd *cobra.Command, _ *liveMode) error {
	if err := m.check(cmd); err != nil {
		return err
	}
	files, err := m.symbols.open(cmd)
	if err != nil {
		return err
	}
	m.code, m.names, m.lambdas = newCodeMap(files), newNames(), make(lambdas)
	m.begin()
	l, err := openLive(cmd, &m.live.target, nil, eventpipe.Config{Providers: m.providers, BufferMB: m.live.bufferMB}, m.live.duration)
	if err != nil {
		return err
	}
	defer l.Close()
	// What was compiled before the session is told at the end of another one.
	if err := m.code.rundown(cmd, l.process); err != nil {
		return err
	}
	m.out = m.top.out.open(cmd, true)
	err = l.each(cmd, m.record)
	if err == nil {
		err = m.show(time.Now())
	}
	if m.rows != nil && err == nil {
		err = m.rows.end()
	}
	return m.out.close(err, nil)
}

// check reads the flags.
func (m *topMode) check(cmd *cobra.Command) error {
	if err := m.top.out.check(cmd); err != nil {
		return err
	}
	if err := m.rank.check(cmd); err != nil {
		return err
	}
	if err := m.top.check(); err != nil {
		return err
	}
	for _, name := range []string{"process", "from", "to", "diff"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s is for traces; a live process is the one of -p, --name or --port", name)
		}
	}
	if m.interval < 100*time.Millisecond {
		return usagef("--interval %v: it is 100ms at least", m.interval)
	}
	m.kind = samplings[slices.Index(m.ordered, m.of)]
	needed, err := toEnable(m.kind.needs)
	if err != nil {
		return err
	}
	m.providers = eventpipe.Merge(append(needed, codeProviders...))
	return m.rank.checkColumn(m.table(&profiled{Profile: stacks.NewProfile(nil, m.options())}).columns)
}

// begin begins an interval. What methods are called is kept, what they weigh is not.
func (m *topMode) begin() {
	m.mux = new(etw.Mux)
	m.finish = m.kind.start(m.mux, nil)
}

// record takes a record, which come in the order of time.
func (m *topMode) record(rec *etw.Record) error {
	at := rec.Time()
	switch {
	case m.end.IsZero():
		m.end = at.Add(m.interval)
	case at.After(m.end):
		if err := m.show(m.end); err != nil {
			return err
		}
		m.begin()
		for !m.end.After(at) {
			m.end = m.end.Add(m.interval)
		}
	}
	if err := m.code.mux.Dispatch(rec); err != nil {
		return err
	}
	return m.mux.Dispatch(rec)
}

// show prints what methods weigh in the interval that ends at a time.
func (m *topMode) show(at time.Time) error {
	g := m.finish()
	p := &profiled{names: m.names, lambdas: m.lambdas, table: m.code.code.Table(), facts: g.facts, period: g.period}
	options := m.options()
	options.Native = m.code.native
	p.Profile = stacks.NewProfile(p.table, options, g.samples...)
	if p.Len() == 0 {
		return nil
	}
	if err := m.shape(p); err != nil {
		return err
	}
	m.leaveMachinery(p)
	tab := m.table(p)
	if m.out.format != formatText {
		return m.stream(at, tab)
	}
	if m.out.screen != nil && !isDumb() {
		m.out.WriteString(clearScreen)
	}
	fmt.Fprintln(m.out, at.UTC().Format("15:04:05"))
	p.head(m.out)
	rank := m.rank
	if err := rank.writeFirst(m.out, tab); err != nil {
		return err
	}
	fmt.Fprintln(m.out)
	return m.out.Flush()
}

// stream prints the rows for programs, with the time at which the interval ends.
func (m *topMode) stream(at time.Time, tab *table) error {
	m.rank.apply(tab, true)
	tab.shown(func(c column) bool { return !c.text })
	if m.rows == nil {
		m.rows = newStream(m.out, append([]column{word("time")}, tab.columns...)...)
	}
	for _, row := range tab.rows {
		if err := m.rows.row(append([]string{etw.FileTimeOf(at).String()}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

// rundown learns of the methods that a process has, by a short session of its own. The
// process is not asked for anything else meanwhile.
func (m *codeMap) rundown(cmd *cobra.Command, a *attached) error {
	ctx := cmd.Context()
	s, err := a.Start(ctx, eventpipe.Config{Providers: codeProviders, Rundown: eventpipe.DefaultRundown})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Stop(ctx); err != nil {
		return err
	}
	var rec etw.Record
	for {
		switch err := s.Next(&rec); {
		case err == io.EOF, errors.Is(err, etw.ErrIncomplete): // the process has ended
			return nil
		case err != nil:
			return err
		}
		if err := m.mux.Dispatch(&rec); err != nil {
			return err
		}
	}
}
