package windows

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/session"
)

// NewSessions returns the command that lists sessions of Windows.
func NewSessions() *cobra.Command {
	s := new(sessions)
	cmd := &cobra.Command{
		Use:   "sessions [flags]",
		Short: "List, change and stop the sessions of Windows",
		Long: `Sessions lists the sessions of Event Tracing for Windows, those of all programs: how
they deliver events, their buffers, and their losses. A session goes on when the
program that started it has died. --stop-orphans stops those that etw started and left,
by their names, and no others; --stop stops any, by its name. With --session, --enable and
--disable turn providers on and off in a session that runs, whoever has started it.

--self-test tries whether sessions and providers work on this Windows: it starts sessions
of its own, writes events of its own to them, reads them back and compares, in both ways
in which Windows delivers events. It changes nothing else. Its output is a report:
paste it where you tell of a fault; exit code 1 says that something failed.

It takes Windows, and mostly an elevated prompt.`,
		Example: `  etw sessions
  etw sessions --stop-orphans
  etw sessions --stop MySession
  etw sessions --session MySession --enable clr:gc+exception:informational
  etw sessions --session MySession --disable 'clr,*My-Source'
  etw sessions --format json | jq -r '.rows[] | select(.lost > 0) | .name'
  etw sessions --self-test --events 100000`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              s.main,
	}
	cmd.Flags().StringArrayVar(&s.stop, "stop", nil, "stop the session of this `NAME`; repeatable")
	cmd.Flags().BoolVar(&s.orphans, "stop-orphans", false, "stop the sessions of etw whose program has ended")
	cmd.Flags().StringVar(&s.name, "session", "", "change the session of this `NAME`, by --enable and --disable")
	cmd.Flags().StringArrayVar(&s.enable, "enable", nil, "turn these providers on in it, or anew: `NAME:KEYWORDS:LEVEL:ARGUMENTS`,... as\nrecord --providers takes them; repeatable")
	cmd.Flags().StringSliceVar(&s.disable, "disable", nil, "turn these `PROVIDERS` off in it; repeatable")
	pick.KnownFlag(cmd, &s.manifests)
	cmd.Flags().BoolVar(&s.try, "self-test", false, "try whether sessions and providers work on this Windows")
	cmd.Flags().IntVar(&s.test.events, "events", 10000, "with --self-test, write so many `EVENTS` to each session")
	s.out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{"stop": cobra.NoFileCompletions, "events": cobra.NoFileCompletions,
		"session": cobra.NoFileCompletions, "enable": cobra.NoFileCompletions, "disable": cobra.NoFileCompletions})
	return cmd
}

// A sessions lists, changes or stops sessions.
type sessions struct {
	stop      []string
	orphans   bool
	name      string
	enable    []string
	disable   []string
	manifests []string
	try       bool
	test      selfTest
	out       show.Output
}

func (s *sessions) main(cmd *cobra.Command, _ []string) error {
	if err := cmp.Or(s.out.Check(cmd), s.check(cmd.Flags().Changed)); err != nil {
		return err
	}
	if s.try {
		return s.test.main(cmd, &s.out)
	}
	changes, err := s.changes(cmd)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" { // a constant: what follows is not linked there
		return session.Supported()
	}
	for _, c := range changes {
		if c.enable != nil {
			err = session.Enable(s.name, c.provider, *c.enable)
		} else {
			err = session.Disable(s.name, c.provider)
		}
		if err != nil {
			return err
		}
	}
	list, err := s.chosen()
	p := s.out.Open(cmd, false)
	if err != nil && len(list) == 0 {
		return p.Close(err)
	}
	return p.Close(sessionTable(list).Write(p), err)
}

// check reports flags that exclude each other.
func (s *sessions) check(changed func(flag string) bool) error {
	switch {
	case !s.try && changed("events"):
		return cli.Usagef("--events is about --self-test")
	case s.try && (changed("stop") || s.orphans || changed("session")):
		return cli.Usagef("--self-test stops and changes no sessions but its own")
	case s.try && s.test.events <= 0:
		return cli.Usagef("--events: %d is not a number of events, from 1 on", s.test.events)
	case changed("session") != (changed("enable") || changed("disable")):
		return cli.Usagef("--session NAME goes with --enable or --disable")
	case changed("session") && (changed("stop") || s.orphans):
		return cli.Usagef("--session NAME changes a session, and stops none")
	}
	return nil
}

// A change turns a provider on in a session, or off.
type change struct {
	provider etw.GUID
	enable   *session.Enablement // nil: off
}

// changes returns the changes to make to a session. All of it is read before any is done.
func (s *sessions) changes(cmd *cobra.Command) (list []change, err error) {
	known, err := pick.ReadManifests(cmd, s.manifests)
	if err != nil {
		return nil, err
	}
	for _, name := range s.disable {
		id, err := sessionProvider(name, known)
		if err != nil {
			return nil, cli.Usagef("--disable: %w", err)
		}
		list = append(list, change{provider: id})
	}
	for _, text := range s.enable {
		for _, one := range splitProviders(text) {
			p, err := new(MachineEnabling).provider(one, known)
			if err == nil {
				_, err = sessionProvider(p.GUID.String(), known)
			}
			if err != nil {
				return nil, cli.Usagef("--enable: %w", err)
			}
			list = append(list, change{p.GUID, &p.Enablement})
		}
	}
	return list, nil
}

// sessionProvider returns the GUID of a provider that a session which runs can turn on and
// off: those of the kernel are not among them.
func sessionProvider(name string, known []*etw.Provider) (etw.GUID, error) {
	id, err := providerGUID(cmp.Or(builtin.Named(name), name), known)
	if err == nil && id == kernel.Provider.Desc.GUID {
		err = errors.New("a session takes the kernel's events from its start on: etw record --kernel")
	}
	return id, err
}

// chosen returns the sessions that are to be listed: all, the one that was changed, or those
// that it stopped.
func (s *sessions) chosen() ([]session.Info, error) {
	if s.name != "" {
		info, err := session.Query(s.name)
		if err != nil {
			return nil, err
		}
		return []session.Info{info}, nil
	}
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

// sessionMode names the session's way with events.
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
