package frames

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/manifest/load"
	"github.com/etwgen/etwgen/manifest/wpp"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// Formats returns the formats of trace messages in the PDBs that traces with such messages name,
// along the symbol path. Nobody is asked where there is none.
func (s *SymbolFiles) Formats(cmd *cobra.Command, in *pick.Input, paths []string) ([]*etw.Provider, error) {
	f, err := s.Finder(cmd)
	if f == nil || err != nil || slices.Contains(paths, trace.Stdin) {
		return nil, err
	}
	first := *in
	first.HeadersOnly, first.Quiet, first.Foresight = true, true, nil
	t, _, _ := first.Open(cmd, paths, false)
	if t == nil { // the pass that prints says why
		return nil, nil
	}
	defer t.Close()
	var mux etw.Mux
	var named []symbols.PDB
	etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnyEventTraceDbgIDRSDS) error {
		named = append(named, symbols.PDB{GUID: e.GUID, Age: e.Age, Path: e.PdbName.String()})
		return nil
	})
	messages := false
	r := &pick.Reading{Cmd: cmd, Progress: show.NewProgress(cmd.ErrOrStderr(), nil), Share: t.Progress, Quiet: true}
	err = r.Each(t, func(rec *etw.Record) error {
		messages = messages || rec.Kind == etw.KindMessage
		return mux.Dispatch(rec)
	})
	if !messages || err != nil && !errors.Is(err, cli.ErrReported) {
		return nil, err
	}
	var all []*etw.Provider
	for _, pdb := range named {
		for _, path := range f.Files(cmd.Context(), &symbols.Native{PDB: pdb}) {
			set, err := load.Providers(path)
			if err != nil && !errors.Is(err, wpp.ErrNone) {
				cli.Report(cmd, err)
			}
			all = append(all, set.Providers...)
		}
	}
	return all, nil
}
