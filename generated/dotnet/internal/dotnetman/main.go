package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/etwgen/etwgen/generated/dotnet/internal/table"
	"github.com/etwgen/etwgen/internal/packed"
	"github.com/etwgen/etwgen/manifest"
)

func main() {
	from := flag.String("from", "", "print the lines that this manifest comes to, and write nothing")
	pkg := flag.String("package", "-", "with -from, the name of its package")
	self := flag.Bool("self-describing", false, "with -from, take it for a self-describing EventSource")
	out := flag.String("o", ".", "folder of the packages")
	flag.Parse()
	err := error(nil)
	if *from != "" {
		err = printLines(*from, *pkg, *self)
	} else {
		err = writeAll(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dotnetman:", err)
		os.Exit(1)
	}
}

// printLines prints the summary of a manifest.
func printLines(path, pkg string, self bool) error {
	m, _, err := manifest.ParseFile(path, manifest.Options{SelfDescribing: self})
	if err != nil {
		return err
	}
	for _, p := range m.Providers {
		os.Stdout.Write(lines(p, pkg))
	}
	return nil
}

// writeAll packs the table, and writes the manifests of all packages.
func writeAll(out string) error {
	path := filepath.Join(out, "internal", "table", "sources.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".gz", packed.Of(text), 0o644); err != nil {
		return err
	}
	for _, e := range table.EntriesOf(string(text)) {
		s, err := e.Read()
		if err != nil {
			return err
		}
		if s.Package == "-" {
			continue
		}
		base := filepath.Join(out, s.Package, s.Package)
		if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(base+".man", xmlOf(s), 0o644); err != nil {
			return err
		}
		if text := overridesOf(s); text != nil {
			if err := os.WriteFile(base+".overrides", text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
