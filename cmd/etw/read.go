package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/trace"
	"github.com/etwgen/etwgen/runtime/etw"
)

// errStop ends the reading of a trace without trouble.
var errStop = errors.New("enough")

// A reading is one pass over a trace.
type reading struct {
	cmd      *cobra.Command
	progress *progress
	share    func() float64 // of the trace that was read
	events   int64
}

// pollEvery is the number of events between two looks at the clock and for an
// interrupt.
const pollEvery = 1024

// each calls do for each record that next delivers. Trouble with the trace is
// printed where it occurs; the error is errReported if there was some. An error
// of do ends the reading.
func (r *reading) each(next func(*etw.Record) (time.Duration, error), do func(*etw.Record, time.Duration) error) error {
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
		elapsed, err := next(&rec)
		switch {
		case err == nil:
			r.events++
			if err := do(&rec, elapsed); err == errStop {
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
			report(r.cmd, err)
			result = errReported
		}
	}
}

// interrupted says how far the reading came.
func (r *reading) interrupted() error {
	r.progress.end()
	report(r.cmd, fmt.Errorf("interrupted after %d events", r.events))
	return errReported
}

// eachFile opens the traces of a command line one by one and calls do for each.
// Trouble with one does not keep it from the others.
func eachFile(cmd *cobra.Command, paths []string, opts trace.Options, do func(trace.Source) error) error {
	var result error
	for _, path := range paths {
		if cmd.Context().Err() != nil {
			break
		}
		sources, err := trace.Open(path, opts)
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
func eachSource(sources []trace.Source, do func(trace.Source) error) error {
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
