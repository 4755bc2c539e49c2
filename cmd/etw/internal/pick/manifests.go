package pick

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/load"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// ReadManifests reads the manifests of a command line, as package load does; a path may also
// be the formats of events of Linux, or standard input. Of several those that are malformed are
// skipped, which is said once.
func ReadManifests(cmd *cobra.Command, paths []string) ([]*etw.Provider, error) {
	var all []*etw.Provider
	var others []string
	for _, path := range paths {
		formats, ok, err := show.ReadFormats(path)
		switch {
		case err != nil:
			return all, &trace.Error{File: path, Err: err}
		case ok:
			all = append(all, formats...)
		case path == trace.Stdin:
			data, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return all, err
			}
			m, _, err := manifest.Parse("<stdin>", data, manifest.Options{Lenient: true})
			if err != nil {
				return all, err
			}
			all = append(all, m.Describe()...)
		default:
			others = append(others, path)
		}
	}
	set, err := load.Providers(others...)
	all = append(all, set.Providers...)
	if err != nil {
		return all, explain(err)
	}
	if n := len(set.Left); n > 0 {
		cli.Report(cmd, fmt.Errorf("%d of %d manifests are left out, as they are malformed; the first: %w", n, set.Files, explain(set.Left[0])))
	}
	return all, nil
}

// explain has an error about a manifest be as those about traces are.
func explain(err error) error {
	var e *load.Error
	if !errors.As(err, &e) {
		return err
	}
	return &trace.Error{File: fileOf(e.File, e.Err), Err: e.Err}
}
