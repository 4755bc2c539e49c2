package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/schema"
	"github.com/etwgen/etwgen/internal/trace"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// input holds the flags of all commands that read traces.
type input struct {
	unpackLimit string
	manifests   []string
	attribute   bool
}

func (in *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&in.unpackLimit, "unpack-limit", "", "let a compressed file unpack to this `size`, such as 20G, instead of\n256 MiB and 250 times its own size")
}

func (in *input) manifestFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&in.manifests, "manifest", nil, "decode by the instrumentation manifest in this `file`, too; repeatable")
}

// knownFlag defines the flag for commands that read no traces.
func knownFlag(cmd *cobra.Command, paths *[]string) {
	cmd.Flags().StringArrayVar(paths, "manifest", nil, "know the providers of the manifest in this `file`, too; repeatable")
}

func (in *input) attributeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&in.attribute, "attribute", false, "find the processes and threads of kernel events, which .etl files do\nnot always say; takes memory for each thread and call stack")
}

// options returns how to open traces.
func (in *input) options(cmd *cobra.Command) (trace.Options, error) {
	opts := trace.Options{Stdin: stdinOf(cmd.Context(), cmd.InOrStdin()), Attribute: in.attribute}
	if in.unpackLimit != "" {
		limit, err := parseSize(in.unpackLimit)
		if err != nil {
			return opts, usagef("--unpack-limit: %w", err)
		}
		opts.UnpackLimit = limit
	}
	return opts, nil
}

// parseSize reads a number of bytes with an optional K, M, G or T.
func parseSize(text string) (int64, error) {
	digits, shift := strings.ToUpper(text), 0
	digits = strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "I")
	if n := len(digits); n > 0 {
		if i := strings.IndexByte("KMGT", digits[n-1]); i >= 0 {
			digits, shift = digits[:n-1], 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is no size such as 500M or 20G", text)
	}
	return n << shift, nil
}

// manifests are what the manifests of a command line say.
type manifests struct {
	providers []*etw.Provider
	classes   []*etw.Provider // of classic events
}

// readManifests reads the manifests that the command line names. They may be
// dumps of registered providers, and so are read leniently.
func readManifests(cmd *cobra.Command, paths []string) (manifests, error) {
	var all manifests
	for _, path := range paths {
		var m *manifest.Manifest
		var err error
		if path == trace.Stdin {
			var data []byte
			if data, err = io.ReadAll(cmd.InOrStdin()); err == nil {
				m, _, err = manifest.Parse("<stdin>", data, manifest.Options{Lenient: true})
			}
		} else {
			m, _, err = manifest.ParseFile(path, manifest.Options{Lenient: true})
		}
		if err != nil {
			return all, &trace.Error{File: fileOf(path, err), Err: err}
		}
		providers, classes := schema.Providers(m)
		all.providers = append(all.providers, providers...)
		all.classes = append(all.classes, classes...)
	}
	return all, nil
}

// fileOf returns the file that an error message has to begin with: none if it
// does already.
func fileOf(path string, err error) string {
	if strings.HasPrefix(err.Error(), path+":") || strings.HasPrefix(err.Error(), "<stdin>:") {
		return ""
	}
	return path
}
