package windows

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/session"
)

// NewSessions returns the command that lists sessions of Windows.
func NewSessions() *cobra.Command {
	s := new(sessions)
	cmd := &cobra.Command{
		Use:   "sessions [flags]",
		Short: "List the sessions of Windows, and stop those that are left over",
		Long: `Sessions lists the sessions of Event Tracing for Windows, those of all programs: what
they do with events, their buffers, and what they lost. A session goes on when the
program that started it has died. --stop-orphans stops those that etw started and left,
by their names, and no others; --stop stops any, by its name.

--self-test tries whether sessions and providers work on this Windows: it starts sessions
of its own, writes events of its own to them, reads them back and compares, in both ways
in which Windows delivers events. It changes nothing else. What it prints is a report:
paste it where you tell of a fault; exit code 1 says that something failed.

It takes Windows, and mostly an elevated prompt.`,
		Example: `  etw sessions
  etw sessions --stop-orphans
  etw sessions --stop MySession
  etw sessions --format json | jq -r '.rows[] | select(.lost > 0) | .name'
  etw sessions --self-test --events 100000`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              s.main,
	}
	cmd.Flags().StringArrayVar(&s.stop, "stop", nil, "stop the session of this `NAME`; repeatable")
	cmd.Flags().BoolVar(&s.orphans, "stop-orphans", false, "stop the sessions of etw whose program has ended")
	cmd.Flags().BoolVar(&s.try, "self-test", false, "try whether sessions and providers work on this Windows")
	cmd.Flags().IntVar(&s.test.events, "events", 10000, "with --self-test, write so many `EVENTS` to each session")
	s.out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"stop": cobra.NoFileCompletions, "events": cobra.NoFileCompletions})
	return cmd
}

// A sessions lists or stops sessions.
type sessions struct {
	stop    []string
	orphans bool
	try     bool
	test    selfTest
	out     show.Output
}

func (s *sessions) main(cmd *cobra.Command, _ []string) error {
	if err := s.out.Check(cmd); err != nil {
		return err
	}
	switch changed := cmd.Flags().Changed; {
	case !s.try && changed("events"):
		return cli.Usagef("--events is about --self-test")
	case s.try && (changed("stop") || s.orphans):
		return cli.Usagef("--self-test stops no sessions but its own")
	case s.try && s.test.events <= 0:
		return cli.Usagef("--events: %d is not a number of events, from 1 on", s.test.events)
	case s.try:
		return s.test.main(cmd, &s.out)
	}
	list, err := s.chosen()
	p := s.out.Open(cmd, false)
	if err != nil && len(list) == 0 {
		return p.Close(err)
	}
	return p.Close(sessionTable(list).Write(p), err)
}

// chosen returns the sessions that are to be listed: all, or those that it stopped.
func (s *sessions) chosen() ([]session.Info, error) {
	if len(s.stop) == 0 && !s.orphans {
		return session.List()
	}
	var list []session.Info
	if s.orphans {
		stopped, err := session.StopOrphans(session.Prefix)
		if err != nil {
			return stopped, err
		}
		list = stopped
	}
	for _, name := range s.stop {
		info, err := session.Stop(name)
		if err != nil {
			return list, err
		}
		list = append(list, info)
	}
	return list, nil
}

// sessionTable lists sessions.
func sessionTable(list []session.Info) *show.Table {
	t := show.NewTable(show.Word("name"), show.Word("mode"), show.Num("bufferKB"), show.Num("buffers"), show.Num("maxBuffers").Spared(1), show.Num("buffersWritten").Spared(2),
		show.Num("lost"), show.Num("lostBuffers"), show.Word("clock").ForPrograms(), show.Word("guid").ForPrograms(), show.Word("file"))
	for _, i := range list {
		t.Add(i.Name, sessionMode(i), u(i.BufferKB), u(i.NumberOfBuffers), u(i.MaxBuffers), u(i.BuffersWritten),
			u(i.EventsLost), u(i.LogBuffersLost+i.RealTimeBuffersLost), fmt.Sprint(i.Clock), i.GUID.String(), i.File)
	}
	return t
}

func u(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// sessionMode says what a session does with events.
func sessionMode(i session.Info) string {
	var text string
	switch {
	case i.Mode&etl.ModeBuffering != 0:
		text = "memory"
	case i.Mode&etl.ModeCircular != 0:
		text = "circular"
	case i.Mode&etl.ModeNewFile != 0:
		text = "files"
	case i.File != "":
		text = "file"
	}
	if i.IsLive() {
		if text != "" {
			text += ", "
		}
		text += "live"
	}
	if i.IsKernel() {
		text += ", kernel"
	}
	return text
}
