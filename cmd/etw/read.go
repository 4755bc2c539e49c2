package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// errStop ends the reading of a trace without trouble.
var errStop = errors.New("enough")

// A reading is one pass over a trace.
type reading struct {
	cmd      *cobra.Command
	progress *progress
	share    func() float64 // of the trace that was read
	events   int64
	follow   bool // an interrupt is how it ends
	quiet    bool // trouble is for another pass to print
	stopped  bool // before the end of the trace, since no more was wanted
}

// pollEvery is the number of events between two looks at the clock and for an
// interrupt.
const pollEvery = 1024

// each calls do for each record of src. Trouble with the trace is printed at its
// end; the error is errReported if there was some. An error of do ends the
// reading.
func (r *reading) each(src etw.Source, do func(*etw.Record) error) error {
	defer r.progress.end()
	ctx := r.cmd.Context()
	var result error
	var rec etw.Record
	for {
		if r.events%pollEvery == 0 {
			if ctx.Err() != nil {
				return r.interrupted()
			}
			r.progress.show(r.events, r.share())
		}
		switch err := src.Next(&rec); {
		case err == nil:
			r.events++
			if err := do(&rec); err == errStop {
				r.stopped = true
				return result
			} else if err != nil {
				return err
			}
		case err == io.EOF:
			return result
		case ctx.Err() != nil:
			return r.interrupted()
		default:
			r.progress.end()
			if !r.quiet {
				reportAll(r.cmd, err)
			}
			result = errReported
		}
	}
}

// reportAll prints the errors that err is made of, a line each.
func reportAll(cmd *cobra.Command, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			report(cmd, e)
		}
		return
	}
	report(cmd, err)
}

// interrupted says how far the reading came.
func (r *reading) interrupted() error {
	r.progress.end()
	if r.follow {
		return nil
	}
	report(r.cmd, fmt.Errorf("interrupted after %d events", r.events))
	return errReported
}

// eachFile opens the traces of a command line one by one and calls do for each.
// Trouble with one does not keep it from the others.
func eachFile(cmd *cobra.Command, paths []string, opts []trace.Option, do func(*trace.File) error) error {
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
			report(cmd, err)
			result = errReported
			continue
		}
		if err := eachSource(sources, do); err == errReported {
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
		if result == nil || result == errReported {
			if err := do(s); err != nil {
				result = err
			}
		}
		s.Close()
	}
	return result
}
