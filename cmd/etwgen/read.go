package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/etwgen/etwgen/manifest"
	"github.com/spf13/cobra"
)

// stdinName is the argument that stands for the standard input.
const stdinName = "-"

// parseManifest reads a manifest. Of faults and err at most one is not nil; err
// means that the file could not be read at all.
func parseManifest(cmd *cobra.Command, path string, opts manifest.Options) (m *manifest.Manifest, warnings, faults manifest.ErrorList, err error) {
	if path == stdinName {
		var data []byte
		if data, err = io.ReadAll(cmd.InOrStdin()); err == nil {
			m, warnings, err = manifest.Parse("<stdin>", data, opts)
		}
	} else {
		m, warnings, err = manifest.ParseFile(path, opts)
	}
	if errors.As(err, &faults) {
		return nil, warnings, faults, nil
	}
	if err != nil {
		err = &exitError{exitUsage, err}
	}
	return m, warnings, nil, err
}

// readManifest reads a manifest of which warnings do not matter. It prints the
// errors, if there are any.
func readManifest(cmd *cobra.Command, path string, opts manifest.Options) (*manifest.Manifest, error) {
	m, _, faults, err := parseManifest(cmd, path, opts)
	if faults != nil {
		err = reported(cmd, faults)
	}
	return m, err
}

// reported prints the errors of a manifest, if err is those, and returns what
// chooses the exit code.
func reported(cmd *cobra.Command, err error) error {
	var faults manifest.ErrorList
	if !errors.As(err, &faults) {
		return &exitError{exitUsage, err}
	}
	for _, e := range faults {
		fmt.Fprintln(cmd.ErrOrStderr(), e)
	}
	return &exitError{code: exitDiagnostics}
}
