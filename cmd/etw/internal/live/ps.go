package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// NewPS returns the command that lists live processes.
func NewPS() *cobra.Command {
	var o show.Output
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List live .NET processes",
		Long: `Ps lists the processes of this machine that have a .NET runtime, from .NET Core 3.1
on, and asks each for its facts. Those of other users are listed as far as the system
lets them be seen; on Linux those in containers are, too. Of a process that cannot be
reached the last column says why: the remedy is in the message.`,
		Example: `  etw ps
  etw ps --format json | jq -r '.rows[] | select(.problem == "") | .pid'`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(cmd); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), 10*time.Second)
			defer cancel()
			list, err := eventpipe.Processes(ctx)
			if err != nil {
				return err
			}
			if len(list) == 0 && o.Format == show.FormatText {
				fmt.Fprintln(cmd.ErrOrStderr(), "etw: no .NET process was found; those of other users may be there, for root to see")
			}
			p := o.Open(cmd, false)
			return p.Close(processTable(list).Write(p))
		},
	}
	o.Flags(cmd)
	return cmd
}

// processTable lists processes.
func processTable(list []eventpipe.Process) *show.Table {
	t := show.NewTable(show.Num("pid"), show.Word("name"), show.Word("runtime"), show.Word("arch").Spared(2), show.Word("os").ForPrograms(), show.Word("rid").ForPrograms(),
		show.Word("started"), show.Word("command"), show.Word("cookie").ForPrograms(), show.Word("socket").ForPrograms(), show.Word("problem"))
	for _, p := range list {
		started := ""
		if !p.Start.IsZero() {
			started = p.Start.UTC().Format("2006-01-02T15:04:05Z")
		}
		cookie := ""
		if !p.Cookie.IsZero() {
			cookie = p.Cookie.String()
		}
		t.Add(strconv.Itoa(p.PID), programName(p.Assembly, p.CommandLine), p.Runtime, p.Arch, p.OS, p.RID, started, p.CommandLine, cookie, p.Socket, problem(p.Err))
	}
	return t
}

// problem says in short why a process cannot be reached.
func problem(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, fs.ErrPermission):
		return "another user's: run as that user, or as root"
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer: stopped, or its port is blocked by a tool"
	}
	return err.Error()
}
