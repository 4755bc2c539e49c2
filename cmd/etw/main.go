// Etw shows the contents of traces of events: .etl files of Windows, .nettrace and .netperf
// files of .NET.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/command"
)

func main() {
	cli.ReportBrokenPipes()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes a command line and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), cli.Endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // the second time a signal ends the program at once

	return runIn(ctx, args, stdin, stdout, stderr)
}

// known leaves out the arguments behind the name of an unknown command: flags of it would be
// said to be unknown, not the command.
func known(root *cobra.Command, args []string) []string {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	if len(args) > 1 && !strings.HasPrefix(args[0], "-") && !strings.HasPrefix(args[0], "__") {
		if cmd, _, _ := root.Find(args[:1]); cmd == nil || cmd == root {
			return args[:1]
		}
	}
	return args
}

// runIn runs the tool until the context ends, with the consequences.
func runIn(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == "help" {
		if i := slices.IndexFunc(flagSets, func(s flagSet) bool { return s.name == args[1] }); i >= 0 {
			return cli.ExitCode(newRoot(), sharedHelp(stdout, &flagSets[i]))
		}
	}
	root := rootFor(args)
	root.SetArgs(known(root, args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := command.Execute(ctx, root)
	return cli.ExitCode(cmd, err)
}
