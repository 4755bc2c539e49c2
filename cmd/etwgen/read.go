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

// parseManifest reads a manifest. The error is a manifest.ErrorList if the file
// could be read.
func parseManifest(cmd *cobra.Command, path string, opts manifest.Options) (*manifest.Manifest, manifest.ErrorList, error) {
	if path != stdinName {
		return manifest.ParseFile(path, opts)
	}
	data, err := io.ReadAll(cmd.InOrStdin())
	if err != nil {
		return nil, nil, err
	}
	return manifest.Parse("<stdin>", data, opts)
}

// readManifest reads a manifest of which warnings do not matter. What is wrong
// with it is printed, and the error chooses the exit code.
func readManifest(cmd *cobra.Command, path string, opts manifest.Options) (*manifest.Manifest, error) {
	m, _, err := parseManifest(cmd, path, opts)
	if err != nil {
		return nil, reported(cmd, err)
	}
	return m, nil
}

// reported prints the errors of a manifest, if err is those, and returns what
// chooses the exit code.
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
