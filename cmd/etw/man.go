package main

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/command"
)

// newMan returns the command that makes manual pages.
func newMan() *cobra.Command {
	cmd := command.NewMan(cli.Usagef, cli.DidYouMean)
	cmd.Long = `Man prints the manual page of etw or of one of its commands, in the form that man
reads, or writes all of them into a folder.`
	cmd.Example = `  etw man dump > etw-dump.1
  etw man --dir man1`
	return cmd
}
