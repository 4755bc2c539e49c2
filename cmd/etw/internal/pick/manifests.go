package pick

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// ReadManifests reads the manifests of a command line: files, programs and libraries
// with a resource, and folders of those. It accepts what dumps of registered providers
// contain; a path may also be the formats of events of Linux. Of several those that are
// malformed are skipped, which is said once.
func ReadManifests(cmd *cobra.Command, paths []string) ([]*etw.Provider, error) {
	var all []*etw.Provider
	var files []string
	for _, path := range paths {
		if formats, ok, err := show.ReadFormats(path); ok {
			if err != nil {
				return all, &trace.Error{File: path, Err: err}
			}
			all = append(all, formats...)
			continue
		}
		found, err := manifestsIn(path)
		if err != nil {
			return all, &trace.Error{File: path, Err: err}
		}
		files = append(files, found...)
	}
	var skipped []error
	for _, path := range files {
		m, err := readManifest(cmd, path)
		switch {
		case err == nil:
			all = append(all, m.Describe()...)
		case !errors.Is(err, wevt.ErrNoResource) || len(files) == 1:
			skipped = append(skipped, &trace.Error{File: fileOf(path, err), Err: err})
		}
	}
	switch n := len(skipped); {
	case n == 0:
	case n == len(files):
		return all, skipped[0]
	default:
		cli.Report(cmd, fmt.Errorf("%d of %d manifests are left out, as they are malformed; the first: %w", n, len(files), skipped[0]))
	}
	return all, nil
}

// manifestsIn returns the files of a folder that may be manifests, or have them, or path
// itself if it is none.
func manifestsIn(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // reading it says what is wrong
	}
	var list []string
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.Contains(manifestSuffixes, strings.ToLower(filepath.Ext(file))) {
			list = append(list, file)
		}
		return err
	})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("the folder has neither manifests (%s) nor formats of events, which would be in GROUP/EVENT/format", strings.Join(manifestSuffixes, ", "))
	}
	return list, err
}

// manifestSuffixes are those of files that are manifests or have them in a resource.
var manifestSuffixes = []string{".man", ".xml", ".dll", ".exe", ".sys"}

// readManifest reads a manifest, or that in the resource of a program or library.
func readManifest(cmd *cobra.Command, path string) (*manifest.Manifest, error) {
	opts := manifest.Options{Lenient: true}
	if path == trace.Stdin {
		data, err := io.ReadAll(cmd.InOrStdin())
		if err != nil {
			return nil, err
		}
		m, _, err := manifest.Parse("<stdin>", data, opts)
		return m, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte("MZ")) {
		m, _, err := manifest.ParseFile(path, opts)
		return m, err
	}
	res, err := wevt.ReadPE(f)
	if err != nil {
		return nil, err
	}
	m, _, err := wevt.Decode(path, res, wevt.Options{Lenient: true})
	return m, err
}
