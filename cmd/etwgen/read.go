package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// How many diagnostics of a kind are printed, such as references to tasks that
// nothing declares. A dump can break one rule a thousand times.
const (
	fewOfAKind = 5
	oneOfAKind = 1 // for warnings about a dump that gen has to live with
)

// A reading is a manifest that has been read, with its errors and warnings.
type reading struct {
	path     string
	name     string // in messages
	data     []byte
	opts     manifest.Options
	manifest *manifest.Manifest // nil if there are errors
	errors   manifest.ErrorList
	warnings manifest.ErrorList
}

// readManifest reads a manifest, or a file that one can be made of. The error means that the file cannot
// be read.
func readManifest(cmd *cobra.Command, path string, opts manifest.Options) (*reading, error) {
	r := &reading{path: path, name: command.Clean(path), opts: opts}
	in := io.NopCloser(cmd.InOrStdin())
	var err error
	if path == stdinName {
		r.name = stdinShown
	} else if in, err = os.Open(path); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	defer in.Close()
	if err := r.read(cmd, bufio.NewReader(in)); err != nil {
		return nil, err
	}
	if path != stdinName {
		if r.opts.Overrides, err = manifest.ReadOverrides(path); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	r.manifest, r.warnings, err = manifest.Parse(r.name, r.data, r.opts)
	errors.As(err, &r.errors)
	return r, nil
}

// headSize is how much of a file tells its kind.
const headSize = 512

// read reads a manifest, or makes one of something else that has one in it.
func (r *reading) read(cmd *cobra.Command, in *bufio.Reader) error {
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return &exitError{exitUsage, err}
	}
	if !isManifest(head) {
		return r.convert(cmd, in)
	}
	if r.data, err = readAtMost(in, maxManifest); err != nil {
		return &exitError{exitUsage, fmt.Errorf("%s: %w", r.name, err)}
	}
	return nil
}

// How large a file may be that is read as a whole. Manifests with thousands of events
// have a few million bytes.
const (
	maxManifest = 64 << 20
	maxProgram  = 1 << 30
)

// readAtMost reads a file to its end if it has no more bytes than most.
func readAtMost(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it has more than %d MiB, which is too much for a file of its kind", most>>20)
	}
	return data, err
}

// convert makes a manifest of something else that has one in it. Places are in the output of
// etwgen import.
func (r *reading) convert(cmd *cobra.Command, from *bufio.Reader) error {
	in, err := importFrom(cmd.Context(), r.name, from, importOptions{lenient: r.opts.Lenient})
	if err != nil {
		return &exitError{exitDiagnostics, err}
	}
	in.printFaults(cmd)
	r.data = in.text()
	return nil
}

// sound reads a manifest that must have no errors. If it has some they are
// printed, with the warnings, and the error chooses the exit code.
func sound(cmd *cobra.Command, path string, opts manifest.Options) (*reading, error) {
	r, err := readManifest(cmd, path, opts)
	if err != nil {
		return nil, err
	}
	if len(r.errors) > 0 {
		r.print(cmd, fewOfAKind)
		return nil, &exitError{code: exitDiagnostics}
	}
	return r, nil
}

// print prints the diagnostics of a manifest as lines of the form
// file:line:col: message, in the order of the file. If few is above 0 it prints
// no more than that many of a kind, and says how to see the others.
func (r *reading) print(cmd *cobra.Command, few int) {
	errs, warnings := r.errors, r.warnings
	if few > 0 {
		errs, warnings = errs.Fold(few), warnings.Fold(few)
	}
	severity := make(map[*manifest.Error]string, len(warnings))
	for _, w := range warnings {
		severity[w] = "warning: "
	}
	all := slices.Concat(errs, warnings)
	all.Sort()
	stderr := cmd.ErrOrStderr()
	for _, e := range all {
		fmt.Fprintf(stderr, "%s: %s%s\n", e.Pos, severity[e], e.Msg)
	}
	if hidden := len(r.errors) + len(r.warnings) - len(all); hidden > 0 {
		fmt.Fprintf(stderr, "etwgen: %s: %d more like these; to see all: etwgen check --all%s\n", r.name, hidden, r.arguments())
	}
	r.printHint(stderr)
}

// printWarnings prints the warnings about a manifest that is used as it is.
func (r *reading) printWarnings(cmd *cobra.Command) {
	few := fewOfAKind
	if r.opts.Lenient {
		few = oneOfAKind
	}
	r.print(cmd, few)
}

// arguments returns the arguments that make etwgen check read the same.
func (r *reading) arguments() string {
	args := " " + r.path
	if strings.ContainsAny(r.path, " \t") || r.path != r.name {
		args = fmt.Sprintf(" %q", r.path)
	}
	if r.opts.Lenient {
		args = " --lenient" + args
	}
	return args
}

// printHint says so if lenient mode can read a manifest that has errors.
func (r *reading) printHint(stderr io.Writer) {
	if r.opts.Lenient || len(r.errors) == 0 {
		return
	}
	opts := r.opts
	opts.Lenient = true
	if _, _, err := manifest.Parse(r.name, r.data, opts); err == nil {
		fmt.Fprintf(stderr, "etwgen: %s: if it is a dump of a registered provider: --lenient can read it\n", r.name)
	}
}

// reported prints the errors that the generator found in a manifest, if err is a list of
// those, and returns an error that chooses the exit code.
func reported(cmd *cobra.Command, err error) *exitError {
	var faults manifest.ErrorList
	if !errors.As(err, &faults) {
		return &exitError{exitUsage, err}
	}
	for _, e := range faults {
		fmt.Fprintln(cmd.ErrOrStderr(), e)
	}
	return &exitError{code: exitDiagnostics}
}
