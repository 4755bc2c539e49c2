package windows

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/session"
)

// trial is how long a recording is tried if --duration does not say.
const trial = 2 * time.Second

// check tries the recording: into a file beside that of the real one, which it reads and removes.
func (r *machineRecord) check(cmd *cobra.Command, cfg session.Config) error {
	folder, err := os.MkdirTemp(filepath.Dir(cfg.File.Path), "etw-check-")
	if err != nil {
		return err
	}
	defer os.Remove(folder)
	path := filepath.Join(folder, "check.etl")
	defer os.Remove(path)
	cfg.File, cfg.Rundown = &session.File{Path: path, Mode: etl.ModeSequential}, nil
	ctx := cmd.Context()
	s, err := session.Start(ctx, cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	took := cmp.Or(r.duration, trial)
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: trying it for %s; nothing is kept\n", took)
	awaitEnd(ctx, s, took)
	if err := s.Stop(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-s.Done()
	counts, all, err := countEvents(path)
	if err != nil {
		return err
	}
	t := show.NewTable(show.Word("provider"), show.Num("processes"), show.Num("events"))
	if cfg.KernelFlags != 0 {
		n := all
		for _, p := range cfg.Providers {
			n -= counts[p.GUID]
		}
		t.Add("the kernel", "", fmt.Sprint(n))
	}
	for _, p := range cfg.Providers {
		who, err := provider.Registrations(p.GUID)
		if err != nil {
			return err
		}
		t.Add(cmp.Or(p.Name, p.GUID.String()), fmt.Sprint(len(who)), fmt.Sprint(counts[p.GUID]))
	}
	out := show.Output{Format: show.FormatText}
	p := out.Open(cmd, false)
	if err := p.Close(t.Write(p)); err != nil {
		return err
	}
	return r.judge(cmd, path, s.Stats(), took, all)
}

// judge says how large the recording would be, and what speaks against it.
func (r *machineRecord) judge(cmd *cobra.Command, path string, stats session.Stats, took time.Duration, all uint64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "etw: %s in %s; a minute of it would be some %s\n", show.Count(all, "event", "events"), took, show.Size(float64(info.Size())*time.Minute.Seconds()/took.Seconds()))
	switch {
	case stats.HasLosses():
		cli.Report(cmd, fmt.Errorf("not all was recorded: %v; raise --buffer-mb, or record less", stats))
	case all == 0:
		cli.Report(cmd, fmt.Errorf("no event came: a provider without processes has nobody who writes its events"))
	default:
		return nil
	}
	return cli.ErrReported
}

// countEvents counts the events of a file, but for those of the session itself, by provider.
func countEvents(path string) (counts map[etw.GUID]uint64, all uint64, err error) {
	f, err := etl.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	counts = make(map[etw.GUID]uint64)
	for r, err := range f.Records() {
		if err != nil {
			return nil, 0, err
		}
		if r.Provider != sessionClass {
			counts[r.Provider]++
			all++
		}
	}
	return counts, all, nil
}

// sessionClass is the class of the events about the session and its file.
var sessionClass = etw.MustParseGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3")
