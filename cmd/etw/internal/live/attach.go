package live

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventpipe"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A liveMode lets a command that is about traces be about a live process, too.
type liveMode struct {
	target   target
	duration time.Duration
	bufferMB int
	run      func(cmd *cobra.Command, m *liveMode) error
}

// add adds the flags to a command, and takes over if one of them names a process.
func (m *liveMode) add(cmd *cobra.Command) *cobra.Command {
	m.target.flags(cmd)
	cmd.Flags().DurationVar(&m.duration, "duration", m.duration, "of a live process, stop after this `TIME`, such as 30s or 5m")
	cmd.Flags().IntVar(&m.bufferMB, "buffer-mb", eventpipe.DefaultBufferMB, "let a live process use up to so many `MB` for events that were not read yet")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"duration": cobra.NoFileCompletions, "buffer-mb": cobra.NoFileCompletions})
	cmd.Use = strings.Replace(cmd.Use, "FILE...", "(FILE... | -p PID)", 1)
	files, args := cmd.RunE, cmd.Args
	cmd.Args = func(cmd *cobra.Command, list []string) error {
		if !m.target.given() {
			return args(cmd, list)
		}
		if len(list) > 0 {
			return cli.Usagef("%s is a trace, and -p and --name are of live processes: --process chooses those of a trace", cli.Clean(list[0]))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !m.target.given() {
			if cmd.Flags().Changed("duration") {
				return cli.Usagef("--duration is for a live process: -p PID")
			}
			return files(cmd, args)
		}
		if err := m.check(cmd); err != nil {
			return err
		}
		return m.run(cmd, m)
	}
	return cmd
}

func (m *liveMode) check(cmd *cobra.Command) error {
	if err := m.target.check(nil); err != nil {
		return err
	}
	if cmd.Flags().Changed("duration") && m.duration <= 0 {
		return cli.Usagef("--duration %v: it must be longer than nothing", m.duration)
	}
	if m.bufferMB <= 0 {
		return cli.Usagef("--buffer-mb: %d is not a size, from 1 on", m.bufferMB)
	}
	return nil
}

// follow attaches, starts a session and calls do for its records, in the order of time,
// until it ends. Losses make the exit code 1, as those of a trace do.
func (m *liveMode) follow(cmd *cobra.Command, providers []eventpipe.Provider, do func(*etw.Record) error) error {
	l, err := openLive(cmd, &m.target, nil, eventpipe.Config{Providers: providers, BufferMB: m.bufferMB}, m.duration)
	if err != nil {
		return err
	}
	defer l.Close()
	return l.each(cmd, do)
}

// each calls do for the records of the session, until it ends.
func (l *live) each(cmd *cobra.Command, do func(*etw.Record) error) error {
	var rec etw.Record
	var err error
	for {
		if err = l.Next(&rec); err != nil {
			break
		}
		if err := do(&rec); err != nil {
			return err
		}
	}
	damaged := errors.Is(err, etw.ErrIncomplete) && !nettrace.IsBrokenOff(err)
	if lost := l.Stats().Lost; lost > 0 && !damaged { // of a damaged stream nobody knows what its numbers are
		cli.Report(cmd, fmt.Errorf("%d events were lost; raise --buffer-mb", lost))
		return cli.ErrReported
	}
	switch {
	case damaged:
		return fmt.Errorf("the stream of %s is damaged: %w", l, err)
	case err == io.EOF, cmd.Context().Err() != nil:
		return nil
	case errors.Is(err, etw.ErrIncomplete) && l.Received() > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s has ended\n", cli.Clean(l.String()))
		return nil
	}
	return l.explain(err)
}
