package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/cmd/etw/internal/ask"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A recordedMode lets a command about traces be about a live process without knowing of it:
// the needs of the command are recorded for a while, with the names of methods, and the
// recording is read as any trace.
type recordedMode struct {
	live  liveMode
	needs func() []need.Need
	// codeless reports whether the answer names no code, so that the process need not list its
	// methods, which takes it seconds; it may be nil.
	codeless func() bool
	// check reads the flags that do not depend on the recording; it may be nil.
	check func(cmd *cobra.Command) error
	// enough reports whether a record ends the recording early; it may be nil.
	enough func(*etw.Record) bool
}

// recordedFor is how long is recorded if the command line does not say.
const recordedFor = 10 * time.Second

// add adds the flags to a command, and takes over if one of them names a process.
func (m *recordedMode) add(cmd *cobra.Command) *cobra.Command {
	files := cmd.RunE
	m.live.duration = cmp.Or(m.live.duration, recordedFor)
	if m.live.run == nil {
		m.live.run = func(cmd *cobra.Command, _ *liveMode) error {
			return m.recorded(cmd, func(path string) error { return files(cmd, []string{path}) })
		}
	}
	return m.live.add(cmd)
}

// recorded records, and calls do with the file, which goes afterwards.
func (m *recordedMode) recorded(cmd *cobra.Command, do func(path string) error) error {
	if m.check != nil {
		if err := m.check(cmd); err != nil {
			return err
		}
	}
	providers, err := toEnable(m.needs())
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "etw")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := m.record(cmd, folder, providers)
	if err != nil {
		return err
	}
	// An interrupt has ended the recording; it is not to end the answer, too.
	ctx := cmd.Context()
	cmd.SetContext(context.WithoutCancel(ctx))
	defer cmd.SetContext(ctx)
	return do(path)
}

// record records to a file in the folder. Losses are said when it is read.
func (m *recordedMode) record(cmd *cobra.Command, folder string, providers []eventpipe.Provider) (string, error) {
	cfg := eventpipe.Config{Providers: providers, Rundown: eventpipe.DefaultRundown, BufferMB: m.live.bufferMB}
	if m.codeless != nil && m.codeless() {
		cfg.Rundown = 0
	}
	l, err := openLive(cmd, &m.live.target, nil, cfg, m.live.duration)
	if err != nil {
		return "", err
	}
	defer l.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: recording %s for at most %v; an interrupt (^C) ends it\n", cli.Clean(l.String()), m.live.duration)
	path := filepath.Join(folder, l.process.defaultFile(time.Now()))
	out, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer out.Close()
	defer sayListing(cmd, m.live.duration)()
	err = m.copy(cmd, l, out)
	switch {
	case l.Received() == 0:
		return "", fmt.Errorf("%s ended before any event came", cli.Clean(l.String()))
	case err == nil, errors.Is(err, etw.ErrIncomplete): // reading it will tell
		return path, out.Close()
	}
	return "", l.explain(err)
}

// sayListing tells people why a recording goes on once it is stopped, after a time or by an
// interrupt, and returns a function for its end.
func sayListing(cmd *cobra.Command, duration time.Duration) (end func()) {
	w := cmd.ErrOrStderr()
	if _, ok := cli.Terminal(w); !ok {
		return func() {}
	}
	say := time.AfterFunc(duration+time.Second, func() {
		fmt.Fprintln(w, "etw: the process lists its methods, which call stacks need; that takes some seconds")
	})
	undo := context.AfterFunc(cmd.Context(), func() { say.Reset(time.Second) })
	return func() {
		undo()
		say.Stop()
	}
}

// copy writes the stream of a session to a file, and looks at it if that is wanted.
func (m *recordedMode) copy(cmd *cobra.Command, l *live, out io.Writer) error {
	if m.enough == nil {
		_, err := io.Copy(out, l.Session)
		return err
	}
	written := io.TeeReader(l.Session, out)
	r, err := nettrace.NewReader(written, nettrace.WithFileOrder())
	if err != nil {
		return err
	}
	ended := false
	var rec etw.Record
	for {
		if err := r.Next(&rec); err != nil {
			_, copyErr := io.Copy(io.Discard, written)
			if err == io.EOF {
				err = nil
			}
			return cmp.Or(copyErr, err)
		}
		if !ended && m.enough(&rec) {
			ended = true
			if err := l.Stop(context.WithoutCancel(cmd.Context())); err != nil {
				return err
			}
		}
	}
}

// toEnable returns the providers that are needed, if a runtime has them.
func toEnable(needs []need.Need) ([]eventpipe.Provider, error) {
	var list []eventpipe.Provider
	for _, n := range needs {
		if n.Recorder != "" {
			return nil, cli.Usagef("a .NET process does not log %s by itself; to record them: %s", n.What, n.Recorder)
		}
		keywords := n.Keywords
		if keywords == 0 {
			keywords = ^uint64(0)
		}
		list = append(list, eventpipe.Provider{Name: n.Provider, Keywords: keywords, Level: n.Level, Arguments: n.Args})
	}
	return eventpipe.Merge(list), nil
}

// WithRecording lets a question be about a recording of a live process.
func WithRecording(q *ask.Question) *cobra.Command {
	return recordingFor(q, recordedFor, nil)
}

// WithSnapshot lets a question be about a snapshot of the heap of a live process.
func WithSnapshot(q *ask.Question) *cobra.Command {
	return recordingFor(q, time.Minute, snapshotEnds())
}

func recordingFor(q *ask.Question, long time.Duration, enough func(*etw.Record) bool) *cobra.Command {
	q.Long += "\n\n" + cli.RecordedLong
	m := &recordedMode{check: q.Check, codeless: q.Codeless, needs: func() []need.Need { return slices.Concat(q.Needs, q.Better) }, enough: enough}
	m.live.duration = long
	return m.add(q.Command())
}

// WithSamples lets a command about samples be about those recorded of a live process.
func WithSamples(c *code.SampleCommand) *cobra.Command {
	m := &recordedMode{needs: c.Of.Needs, check: c.Check}
	return m.add(c.Command)
}

// snapshotEnds returns an observer of the end of the first snapshot of a live process.
func snapshotEnds() func(*etw.Record) bool {
	var mux etw.Mux
	walked, ended := false, false
	etw.Handle(&mux, func(*etw.Record, *clr.GCBulkNode) error { walked = true; return nil })
	etw.Handle(&mux, func(*etw.Record, *clr.AnyGCEnd) error { ended = walked; return nil })
	return func(r *etw.Record) bool {
		_ = mux.Dispatch(r) // no handler has an error
		return ended
	}
}
