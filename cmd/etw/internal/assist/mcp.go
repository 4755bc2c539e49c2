package assist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/command"
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
more. A trace that was opened has a handle, and what was found in it is kept: a second
look takes no second pass.

Only files in the folders of --root are read, and folders below them; links are followed
first. Nothing is written, nothing is run, and nothing is asked of the network.

An assistant that starts programs is told the command line: etw mcp --root FOLDER.
--list shows the tools in place of answering.`,
		Example: `  etw mcp --list
  etw mcp --root .
  etw mcp --list --format json | jq -r '.rows[].tool'`,
		Args:              cobra.NoArgs,
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
	f.DurationVar(&limit, "timeout", time.Minute, "answer with what was read after this `TIME`; 0 is none")
	f.BoolVar(&list, "list", false, "print the tools, and what each takes")
	out.Flags(cmd)
	cli.Completions(cmd, map[string]cobra.CompletionFunc{
		"root": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		"timeout": cobra.NoFileCompletions,
	})
	return cmd
}

// serveAssistant answers what comes on the standard input, until it ends.
func serveAssistant(cmd, root *cobra.Command, run desk.Runner, roots []string, limit time.Duration) error {
	d, err := desk.New(run, roots, limit)
	if err != nil {
		return cli.Usagef("--root: %w", err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "etw", Title: "ETW and EventPipe traces", Version: command.Version()},
		&mcp.ServerOptions{Instructions: assistantGuide, Capabilities: &mcp.ServerCapabilities{}})
	server.AddReceivingMiddleware(shortErrors)
	addTools(server, root, d)
	addGuides(server, d)
	addPlaybooks(server)
	w := newGate(cmd.InOrStdin(), cmd.OutOrStdout())
	err = server.Run(cmd.Context(), &mcp.IOTransport{Reader: io.NopCloser(w), Writer: keepOpen{w}, MaxLineLength: -1})
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) { // that is how it ends
		return nil
	}
	return err
}

// shortErrors shortens what is said of calls that fail, which may repeat what they were of.
func shortErrors(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		var wire *jsonrpc.Error
		if errors.As(err, &wire) {
			err = &jsonrpc.Error{Code: wire.Code, Message: shortened(err.Error())}
		}
		if called, ok := res.(*mcp.CallToolResult); ok && called != nil && called.IsError {
			for _, c := range called.Content {
				if text, ok := c.(*mcp.TextContent); ok {
					text.Text = shortened(text.Text)
				}
			}
		}
		return res, err
	}
}

// keepOpen is a writer that somebody else closes.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// addTools adds the tools.
func addTools(server *mcp.Server, root *cobra.Command, d *desk.Desk) {
	readOnly := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	for _, t := range Tools(root) {
		handle := func(ctx context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
			answer, err := t.Call(ctx, d, in)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", t.Name, err)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(answer)}}}, nil, nil
		}
		mcp.AddTool(server, &mcp.Tool{Name: t.Name, Description: t.about, InputSchema: t.schema(), Annotations: readOnly}, handle)
	}
}
