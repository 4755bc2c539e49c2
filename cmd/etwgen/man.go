package main

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

// newMan returns the command that makes manual pages.
func newMan() *cobra.Command {
	cmd := command.NewMan(usagef, func(string, []string) string { return "" })
	cmd.Long = `Man prints the manual page of etwgen or of one of its commands, in the form that man
reads, or writes all of them into a folder.`
	cmd.Example = `  etwgen man gen > etwgen-gen.1
  etwgen man --dir man1`
	return cmd
}
