package pick

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// ErrStop ends the reading of a trace without trouble.
var ErrStop = errors.New("enough")

// A Reading is one pass over a trace.
type Reading struct {
	Cmd      *cobra.Command
	Progress *show.Progress
	Share    func() float64 // of the trace that was read
	Wants    *etw.Wants     // of those that do has a use for; nil if it has for all
	Events   int64          // that do was called with
	Follow   bool           // an interrupt is how it ends
	Quiet    bool           // trouble is for another pass to print
	Stopped  bool           // before the end of the trace, since no more was wanted
}

// Each calls do for each record of src that is wanted. Trouble with the trace is printed
// at its end; the error is errReported if there was some. An error of do ends the
// reading.
func (r *Reading) Each(src etw.Source, do func(*etw.Record) error) error {
	defer r.Progress.End()
	end, err := cli.Pass(r.Cmd)
	if err != nil {
		return err
	}
	defer end()
	failed := false
	err = etw.Push(&polled{r.Cmd.Context(), r}, src, r.Wants, func(rec *etw.Record) error {
		r.Events++
		err := do(rec)
		failed = err != nil
		return err
	})
	switch {
	case failed && err == ErrStop:
		r.Stopped = true
		return nil
	case failed || err == nil:
		return err
	case r.Cmd.Context().Err() != nil:
		return r.Interrupted()
	}
	r.Progress.End()
	if !r.Quiet {
		ReportAll(r.Cmd, err)
	}
	return cli.ErrReported
}

// Once makes a pass of its own over a trace, for facts that another one needs before; that one
// prints the faults of the trace.
func Once(cmd *cobra.Command, t *trace.Trace, do func(*etw.Record) error) error {
	r := &Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress, Quiet: true}
	if err := r.Each(t, do); err != nil && !errors.Is(err, cli.ErrReported) {
		return err
	}
	return nil
}

// A polled is the context of a reading, which is shown whenever a source looks whether it
// is to go on.
type polled struct {
	context.Context
	r *Reading
}

func (p *polled) Err() error {
	p.r.ShowProgress()
	return p.Context.Err()
}

// read returns how many events were read, with those that were left out.
func (r *Reading) read() int64 {
	if r.Wants == nil {
		return r.Events
	}
	return r.Events + int64(r.Wants.Skipped)
}

// ShowProgress shows how far the reading came, and tells a server that wants to know.
func (r *Reading) ShowProgress() {
	share := r.Share()
	r.Progress.Show(r.read(), share)
	if tell, ok := r.Cmd.Context().Value(cli.ProgressKey{}).(func(events int64, share float64)); ok {
		tell(r.read(), share)
	}
}

// ReportAll prints the errors that err is made of, a line each.
func ReportAll(cmd *cobra.Command, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			cli.Report(cmd, e)
		}
		return
	}
	cli.Report(cmd, err)
}

// Interrupted says how far the reading came.
func (r *Reading) Interrupted() error {
	r.Progress.End()
	if r.Follow {
		return nil
	}
	cli.Report(r.Cmd, fmt.Errorf("interrupted after %d events", r.read()))
	return cli.ErrReported
}

// EachFile opens the traces of a command line one by one and calls do for each.
// Trouble with one does not keep it from the others.
func EachFile(cmd *cobra.Command, paths []string, opts []trace.Option, do func(*trace.File) error) error {
	var result error
	for _, path := range paths {
		if cmd.Context().Err() != nil {
			break
		}
		sources, err := openFiles(cmd.Context(), path, opts)
		if err != nil {
			if cmd.Context().Err() != nil {
				err = errors.New("interrupted")
			}
			cli.Report(cmd, err)
			result = cli.ErrReported
			continue
		}
		if err := eachSource(sources, do); err == cli.ErrReported {
			result = err
		} else if err != nil {
			return err
		}
	}
	return result
}

// eachSource calls do for each source and closes it. It ends early if do returns
// another error than errReported.
func eachSource(sources []*trace.File, do func(*trace.File) error) error {
	var result error
	for _, s := range sources {
		if result == nil || result == cli.ErrReported {
			if err := do(s); err != nil {
				result = err
			}
		}
		s.Close()
	}
	return result
}
