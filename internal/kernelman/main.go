package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	facts := flag.String("facts", filepath.Join(os.Getenv("ETWGEN_CORPUS"), "..", "facts"), "folder of the tables kernel-*.tsv")
	out := flag.String("o", ".", "folder to write to")
	flag.Parse()
	if err := run(*facts, *out); err != nil {
		fmt.Fprintln(os.Stderr, "kernelman:", err)
		os.Exit(1)
	}
}

// run makes the files in folder out.
func run(facts, out string) error {
	k, err := readKernel(facts)
	if err != nil {
		return err
	}
	if k.docs, err = readDocs(docsText); err != nil {
		return err
	}
	text := k.manifest()
	if names := k.docs.unused(); len(names) > 0 {
		return fmt.Errorf("docs.txt: nothing is named %s", strings.Join(names, ", "))
	}
	if err := os.WriteFile(filepath.Join(out, "system.go"), k.systemProviders(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "kernel.man"), text, 0o644)
}
