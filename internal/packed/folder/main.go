// Command folder packs a folder into the archive beside it, which a program embeds:
//
//	//go:generate go run github.com/etwgen/etwgen/internal/packed/folder assets
package main

import (
	"fmt"
	"os"

	"github.com/etwgen/etwgen/internal/packed"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "folder:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("give one folder, not %q", args)
	}
	archive, err := packed.Folder(os.DirFS(args[0]))
	if err != nil {
		return err
	}
	return os.WriteFile(args[0]+".zip", archive, 0o666)
}
