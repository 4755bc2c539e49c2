package windows

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/session"
)

// NewRecord returns the command that records a machine with Windows.
func NewRecord() *cobra.Command {
	r := new(machineRecord)
	cmd := &cobra.Command{
		Use:   "record [flags] (--providers LIST | --kernel FLAGS)...",
		Short: "Record a machine with Windows to an .etl file",
		Long: `Record starts a session of Event Tracing for Windows, which writes the events of all
processes to a file, until --duration is over or an interrupt (^C). One session takes
both the kernel's events and those of other providers, so that nothing is to be merged.
If the .NET runtime is among the providers, its processes then say which methods they
have loaded and compiled, so that call stacks get names; --rundown none does without, and
--rundown both has them say it when the recording begins, too, for those that end before it.

With --max-size and --mode circular the file keeps the newest events; with --mode
new-file the recording goes on in another file, each of which can be read by itself.

It takes Windows 8 or later, and an elevated prompt. Exit code 1 says that events were
lost: then raise --buffer-mb, or record less.`,
		Example: `  etw record --providers clr:gc+exception:informational --duration 30s -o gc.etl
  etw record --kernel process+thread+image_load+profile --providers clr --stacks -o cpu.etl
  etw record --providers 'Microsoft-Windows-Kernel-File,*My-EventSource' -o files.etl
  etw record --check --providers clr,*My-EventSource
  etw record --kernel process+cswitch --max-size 500M --mode circular -o flight.etl
  etw record --providers clr::verbose --max-size 200M --mode new-file -o day.etl`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              r.main,
	}
	r.enabling.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&r.path, "output", "o", "", "record to this `FILE`; otherwise to one with the time in its name")
	f.DurationVar(&r.duration, "duration", 0, "stop after this `TIME`, such as 30s or 5m")
	f.BoolVar(&r.tried, "check", false, "try it for two seconds, or --duration, keep nothing, and say whose events\ncome, how many, and how large a minute of it would be")
	f.StringVar(&r.size, "max-size", "", "let the file have this `SIZE`, such as 500M")
	f.StringVar(&r.mode, "mode", ModeSequential, "the `MODE` then: sequential (later events are lost), circular\n(the oldest is overwritten) or new-file")
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"duration": cobra.NoFileCompletions, "max-size": cobra.NoFileCompletions,
		"mode": cobra.FixedCompletions(fileModes, cobra.ShellCompDirectiveNoFileComp),
	})
	return cmd
}

// The modes of files.
const (
	ModeSequential = "sequential"
	ModeCircular   = "circular"
	ModeNewFile    = "new-file"
)

var fileModes = []string{ModeSequential, ModeCircular, ModeNewFile}

// A machineRecord records a machine.
type machineRecord struct {
	enabling   MachineEnabling
	path       string
	duration   time.Duration
	size, mode string
	tried      bool // it is checked, and nothing is kept
}

// config reads the flags.
func (r *machineRecord) config(cmd *cobra.Command) (cfg session.Config, err error) {
	if cfg, err = r.enabling.Config(cmd); err != nil {
		return cfg, err
	}
	if r.duration < 0 || cmd.Flags().Changed("duration") && r.duration == 0 {
		return cfg, cli.Usagef("--duration %v: it must be longer than nothing", r.duration)
	}
	if r.path == cli.StdoutPath {
		return cfg, cli.Usagef("-o -: Windows writes the file, so it must have a name")
	}
	if r.path == "" {
		r.path = time.Now().Format("20060102-150405") + ".etl"
	}
	cfg.File = &session.File{Path: r.path}
	if r.size != "" {
		size, err := pick.ParseSize(r.size)
		if err != nil {
			return cfg, cli.Usagef("--max-size: %w", err)
		}
		cfg.File.MaxMB = int(max(size>>20, 1))
	}
	switch r.mode {
	case ModeSequential:
		cfg.File.Mode = etl.ModeSequential
	case ModeCircular, ModeNewFile:
		if r.size == "" {
			return cfg, cli.Usagef("--mode %s goes with --max-size", r.mode)
		}
		cfg.File.Mode = etl.ModeCircular
		if r.mode == ModeNewFile {
			cfg.File.Mode = etl.ModeNewFile
			cfg.File.Path = numbered(r.path)
		}
	default:
		return cfg, cli.Usagef("--mode %s: there are %s", r.mode, strings.Join(fileModes, ", "))
	}
	return cfg, nil
}

// numbered returns a path with a place for the number of a file.
func numbered(path string) string {
	if strings.Contains(path, "%d") {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + ".%d" + ext
}

func (r *machineRecord) main(cmd *cobra.Command, _ []string) error {
	cfg, err := r.config(cmd)
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" { // a constant: what follows is not linked there
		return session.Supported()
	}
	if r.tried {
		return r.check(cmd, cfg)
	}
	ctx := cmd.Context()
	s, err := session.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	begun := time.Now()
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: recording to %s; an interrupt (^C) ends it\n", cli.Clean(cfg.File.Path))
	awaitEnd(ctx, s, r.duration)
	if cfg.Rundown != nil && cfg.Rundown.When != session.RundownAtStart {
		fmt.Fprintln(cmd.ErrOrStderr(), "etw: stopping; .NET processes write the names of their methods")
	}
	if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-s.Done()
	stats := s.Stats()
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: recorded for %s: %s\n", time.Since(begun).Round(100*time.Millisecond), cli.Clean(cfg.File.Path))
	if stats.HasLosses() {
		cli.Report(cmd, fmt.Errorf("not all was recorded: %v; raise --buffer-mb, or record less", stats))
		return cli.ErrReported
	}
	return nil
}

// awaitEnd waits until a session is to be stopped, or was stopped by somebody else.
func awaitEnd(ctx context.Context, s *session.Session, duration time.Duration) {
	var over <-chan time.Time
	if duration > 0 {
		over = time.After(duration)
	}
	select {
	case <-ctx.Done():
	case <-over:
	case <-s.Done():
	}
}

// errNothing is the error of a session that takes no events.
var errNothing = errors.New("choose events: --providers or --kernel; etw events lists the events that are known")
