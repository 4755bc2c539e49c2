package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A topMode shows the weights of methods of a live process, interval by interval.
type topMode struct {
	*code.Top
	files    func(cmd *cobra.Command, args []string) error // the command about files
	live     liveMode
	interval time.Duration

	providers []eventpipe.Provider
	code      *frames.CodeMap
	kind      *samples.Kind
	finish    func() code.Gathered // of the analysis of the interval
	mux       *etw.Mux
	names     *pick.Names
	out       *show.Printer
	rows      *pick.Stream
	end       time.Time // of the interval
}

// codeProviders log the methods that are compiled while a session goes on (keywords
// Loader, Jit and NGen), and the compiled ones that are looked up (CompilationDiagnostic).
var codeProviders = []eventpipe.Provider{{Name: need.CLR, Keywords: 0x2000000038, Level: etw.LevelVerbose}}

// WithIntervals has the command about methods show those of a live process, interval by
// interval.
func WithIntervals(o *code.Top) *cobra.Command {
	m, cmd := &topMode{Top: o, files: o.Cmd.RunE}, o.Cmd
	cmd.Flags().DurationVar(&m.interval, "interval", 3*time.Second, "of a live process, the interval of a table: a `TIME` from 100ms on")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"interval": cobra.NoFileCompletions})
	m.live.run = m.main
	return m.live.add(cmd)
}

func (m *topMode) main(cmd *cobra.Command, _ *liveMode) error {
	if m.By == code.ByStack {
		return m.stacksNow(cmd)
	}
	if err := m.check(cmd); err != nil {
		return err
	}
	files, err := m.Symbols.Open(cmd)
	if err != nil {
		return err
	}
	m.code, m.names = frames.NewCodeMap(files), pick.NewNames()
	m.begin()
	l, err := openLive(cmd, &m.live.target, nil, eventpipe.Config{Providers: m.providers, BufferMB: m.live.bufferMB}, m.live.duration)
	if err != nil {
		return err
	}
	defer l.Close()
	// Methods compiled before the session are told at the end of another one.
	if err := l.process.rundown(cmd, m.code); err != nil {
		return err
	}
	m.out = m.Top.Out.Open(cmd, true)
	err = l.each(cmd, m.record)
	if err == nil {
		err = m.show(time.Now())
	}
	if m.rows != nil && err == nil {
		err = m.rows.End()
	}
	return m.out.Close(err, nil)
}

// checkFlags reads the flags that traces also have.
func (m *topMode) checkFlags(cmd *cobra.Command) error {
	return cmp.Or(m.CheckFlags(cmd), m.CheckKind())
}

// check reads the flags.
func (m *topMode) check(cmd *cobra.Command) error {
	if err := m.checkFlags(cmd); err != nil {
		return err
	}
	for _, name := range []string{"process", "from", "to", "diff"} {
		if cmd.Flags().Changed(name) {
			return cli.Usagef("--%s is for traces; a live process is the one of -p, --name or --port", name)
		}
	}
	if m.interval < 100*time.Millisecond {
		return cli.Usagef("--interval %v: it is 100ms at least", m.interval)
	}
	m.kind = samples.Find(m.Of)
	needed, err := toEnable(m.kind.Needs)
	if err != nil {
		return err
	}
	m.providers = eventpipe.Merge(append(needed, codeProviders...))
	return m.Rank.CheckColumn(m.Table(&code.Profiled{Profile: stacks.NewProfile(nil, m.Options())}).Columns)
}

// begin begins an interval. The names of methods are kept, their weights are not.
func (m *topMode) begin() {
	m.mux = new(etw.Mux)
	m.finish, _ = code.Start(m.kind, m.mux, nil, nil)
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
	if err := m.code.Mux.Dispatch(rec); err != nil {
		return err
	}
	return m.mux.Dispatch(rec)
}

// show prints the weights of methods in the interval that ends at a time.
func (m *topMode) show(at time.Time) error {
	g := m.finish()
	p := &code.Profiled{Names: m.names, Table: m.code.Code.Table(), Facts: g.Facts, Period: g.Period}
	options := m.Options()
	options.Native = m.code.Native
	p.Profile = stacks.NewProfile(p.Table, options, g.Samples...)
	if p.Len() == 0 {
		return nil
	}
	if err := m.Shape(p); err != nil {
		return err
	}
	p.Facts = append(p.Facts, code.WaitingFact(p.Profile)...)
	m.LeaveMachinery(p)
	tab := m.Table(p)
	if m.out.Format != show.FormatText {
		return m.stream(at, tab)
	}
	if m.out.Screen != nil && !cli.IsDumb() {
		m.out.WriteString(clearScreen)
	}
	fmt.Fprintln(m.out, at.UTC().Format("15:04:05"))
	p.Head(m.out)
	rank := m.Rank
	if err := rank.WriteFirst(m.out, tab); err != nil {
		return err
	}
	fmt.Fprintln(m.out)
	return m.out.Flush()
}

// stream prints the rows for programs, with the time at which the interval ends.
func (m *topMode) stream(at time.Time, tab *show.Table) error {
	m.Rank.Apply(tab, true)
	tab.Shown(func(c show.Column) bool { return !c.Text })
	if m.rows == nil {
		m.rows = pick.NewStream(m.out, append([]show.Column{show.Word("time")}, tab.Columns...)...)
	}
	for _, row := range tab.Rows {
		if err := m.rows.Row(append([]string{etw.FileTimeOf(at).String()}, row...)...); err != nil {
			return err
		}
	}
	return nil
}

// rundown has m learn of the methods of the process, by a short session of its own. The
// process is not asked for anything else meanwhile.
func (a *attached) rundown(cmd *cobra.Command, m *frames.CodeMap) error {
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
		case err == io.EOF, nettrace.IsBrokenOff(err): // the process has ended
			return nil
		case errors.Is(err, etw.ErrIncomplete):
			return fmt.Errorf("the list of methods from %s (%s) is damaged: %w", a, a.name, err)
		case err != nil:
			return err
		}
		if err := m.Mux.Dispatch(&rec); err != nil {
			return err
		}
	}
}
