package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/manifest"
	"github.com/etwgen/etwgen/manifest/wevt"
	"github.com/spf13/cobra"
)

// compileFlags are the flags of compile.
type compileFlags struct {
	dir     string
	name    string
	version int
	header  bool
	c       wevt.HeaderOptions
	rc      bool
	syso    []string
	against string
}

// newCompile returns the command that compiles manifests.
func newCompile() *cobra.Command {
	var flags compileFlags
	cmd := &cobra.Command{
		Use:   "compile [flags] MANIFEST",
		Short: "Compile a manifest for Windows, as mc.exe does",
		Long: `Compile makes of a manifest the files that Windows needs to show the events of a program:
the resource WEVT_TEMPLATE and a message table for each language, byte by byte as
the message compiler mc.exe does, but for the GUIDs of templates, which it has a way
of its own to make. It writes

  NAMETEMP.bin, MSG00001.bin, ..., NAME.rc   for rc.exe, windres and llvm-rc
  rsrc_windows_ARCH.syso                     with --syso: go build links it into
                                             the program in whose folder it is
  NAME.h                                     with --header: for C and C++, the
                                             constants and a function for each event,
                                             named as mc.exe names them

The flags --km, --prefix and --strip are -km, -p and -P of mc.exe, and ask for the header.

--check-against fails, before anything is written, if the manifest breaks those who
know an older version of it: see etwgen compat.

Exit codes: 0 if all is well, 1 if the manifest has errors or breaks compatibility,
2 for trouble.`,
		Example: "  etwgen compile --syso amd64,arm64 MyProvider.man\n  etwgen compile -o build --header --check-against released.man MyProvider.man",
		Args:    command.Args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.ContainsAny(flags.name, `/\:"`) {
				return usagef("--name %q: the name of the files has no folder, colon or quote in it; --output is for the folder", flags.name)
			}
			if p := flags.c.Prefix; p != "" && manifest.Symbol(p) != p {
				return usagef("--prefix %q: names in C have letters, digits and _, and begin with a letter", p)
			}
			r, err := sound(cmd, args[0], manifest.Options{})
			if err != nil {
				return err
			}
			r.printWarnings(cmd)
			if err := flags.check(cmd, r); err != nil {
				return err
			}
			files, err := flags.compile(cmd, r)
			if err == nil {
				err = writeAll(osDisk{}, flags.dir, files)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.dir, "output", "o", ".", "write to this `folder`")
	f.StringVar(&flags.name, "name", "", "the `name` of the files (default that of the manifest)")
	f.IntVar(&flags.version, "form", 5, "the `version` of the binary form: 5, or 3 as older compilers write")
	f.BoolVar(&flags.header, "header", false, "also write a header for C and C++")
	f.BoolVar(&flags.c.Kernel, "km", false, "write the header for drivers: it calls EtwWrite, and its functions take an activity first")
	f.StringVarP(&flags.c.Prefix, "prefix", "p", "", "`text` that names of functions that write begin with in the header (default EventWrite)")
	f.StringVarP(&flags.c.Strip, "strip", "P", "", "`text` that symbols of events begin with, and names of functions in the header do not")
	f.BoolVar(&flags.rc, "rc", false, "with --syso, also write the files for resource compilers")
	f.StringSliceVar(&flags.syso, "syso", nil, "write object files for go build for these `architectures`: amd64, arm64, 386")
	f.StringVar(&flags.against, "check-against", "", "fail if this older `manifest` is not compatible")
	return cmd
}

// check holds the manifest against an older one.
func (c *compileFlags) check(cmd *cobra.Command, r *reading) error {
	if c.against == "" {
		return nil
	}
	old, err := sound(cmd, c.against, manifest.Options{Lenient: true})
	if err != nil {
		return err
	}
	broken, _ := printChanges(cmd.ErrOrStderr(), manifest.Compare(old.manifest, r.manifest), manifest.Breaking)
	if broken > 0 {
		return &exitError{code: exitDiagnostics}
	}
	return nil
}

// compile makes the files.
func (c *compileFlags) compile(cmd *cobra.Command, r *reading) ([]gen.File, error) {
	res, err := wevt.Encode(r.manifest, wevt.EncodeOptions{Version: c.version})
	if err != nil {
		return nil, compileError(cmd, err)
	}
	name := c.name
	if name == "" {
		base := filepath.Base(r.path)
		if r.path == stdinName {
			base = "events"
		}
		name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	var files []gen.File
	if c.rc || len(c.syso) == 0 {
		for _, f := range res.Files(name) {
			files = append(files, gen.File{Name: f.Name, Content: f.Content})
		}
	}
	slices.Sort(c.syso)
	for _, arch := range slices.Compact(c.syso) {
		object, err := res.Object(arch)
		if err != nil {
			return nil, usagef("--syso: %v", err)
		}
		files = append(files, gen.File{Name: "rsrc_windows_" + arch + ".syso", Content: object})
	}
	if c.header || c.c != (wevt.HeaderOptions{}) {
		files = append(files, gen.File{Name: name + ".h", Content: wevt.Header(filepath.Base(r.name), r.manifest, c.c)})
	}
	return files, nil
}

// compileError prints the elements that have no binary form.
func compileError(cmd *cobra.Command, err error) error {
	exit := reported(cmd, err)
	if exit.err != nil {
		return usagef("%v", exit.err)
	}
	return exit
}

// writeAll writes files into a folder, over any that are there.
func writeAll(d disk, dir string, files []gen.File) error {
	for i := range files {
		files[i].Name = filepath.Join(dir, files[i].Name)
	}
	if err := replaceAll(d, files, func(string) {}); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}
