package assist

import (
	"bufio"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
)

// NewMCP returns the command that lets an assistant ask.
//
// root makes the command of which the tools are made, and run runs a command line.
func NewMCP(root func() *cobra.Command, run desk.Runner) *cobra.Command {
	var folders []string
	var limit time.Duration
	var list bool
	var out show.Output
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "Let an assistant ask: a server of the Model Context Protocol",
		Long: `Mcp answers an assistant, as a server of the Model Context Protocol on the standard input
and output. There is a tool for each question, with the names and the JSON of the
commands; answers have as many rows and bytes as are asked for, and say where there is
more. A trace that was opened has a handle, and findings in it are kept: a second
look takes no second pass.

Only files in the folders of --root are read, and folders below them; links are followed
first. Nothing is written, nothing is run, and nothing is asked of the network.

An assistant that starts programs is told the command line: etw mcp --root FOLDER.
--list shows the tools in place of answering.`,
		Example: `  etw mcp --list
  etw mcp --root .
  etw mcp --list --format json | jq -r '.rows[].tool'`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.Check(cmd); err != nil {
				return err
			}
			if list {
				p := out.Open(cmd, false)
				return p.Close(toolTable(root()).Write(p))
			}
			if limit < 0 {
				return cli.Usagef("--timeout: %v is not a time such as 1m", limit)
			}
			return serveAssistant(cmd, root(), run, folders, limit)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&folders, "root", []string{"."}, "let traces in this `FOLDER` be read, and in those below it; repeatable")
	f.DurationVar(&limit, "timeout", time.Minute, "answer from the part read after this `TIME`; 0 means no limit")
	f.BoolVar(&list, "list", false, "print the tools, and their inputs")
	out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"root": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		"timeout": cobra.NoFileCompletions,
	})
	return cmd
}

// serveAssistant answers messages on the standard input, until it ends.
func serveAssistant(cmd, root *cobra.Command, run desk.Runner, roots []string, limit time.Duration) error {
	d, err := desk.New(run, roots, limit)
	if err != nil {
		return cli.Usagef("--root: %w", err)
	}
	s := &server{desk: d, tools: Tools(root), in: bufio.NewReaderSize(cmd.InOrStdin(), 1<<16), out: cmd.OutOrStdout(), calls: make(map[string]context.CancelFunc)}
	order.Sort(s.tools, func(a, b *tool) int { return strings.Compare(a.Name, b.Name) })
	return s.run(cmd.Context())
}
