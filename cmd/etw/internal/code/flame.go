package code

import (
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/export/html"
)

// NewFlame returns the command that writes a flame graph.
func NewFlame() *SampleCommand {
	var o Profiling
	var path string
	cmd := &cobra.Command{
		Use:   "flame [flags] FILE...",
		Short: "Write a flame graph",
		Long: `Flame writes a page for the browser with the call tree of the samples as a flame
graph: the time of threads, or the measure of --of. It can be zoomed, searched and turned
around. The page is one file that needs no network.

Where --symbols has portable PDBs, the page has source lines, too: see etw top --by line.

The flags that choose samples and frames are those of top. --diff compares with an
earlier trace: a larger share than before is red, a smaller one blue.

` + cli.RecordedLong + ``,
		Example: `  etw flame cpu.nettrace -o flame.html && test -s flame.html
  etw flame --of exceptions cpu.nettrace > exceptions.html
  etw flame --diff before.nettrace after.nettrace -o diff.html && test -s diff.html
  etw flame -p 1234 --duration 30s -o flame.html`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: pick.CompleteTraces,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			o.linesIfKnown()
			return o.write(cmd, args, path, "there is nothing to draw", func(w io.Writer, p *Profiled) error {
				page := p.flame()
				page.Title, page.Lead, page.Warnings = filepath.Base(args[0]), p.Facts, p.warnings
				if p.compared {
					page.Title += ", compared with " + filepath.Base(o.before)
				}
				for _, f := range p.T.Files() {
					page.Facts = append(page.Facts, html.Fact{Name: "format", Text: f.Format()})
				}
				return page.Write(w)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "write the page to this `file`, instead of the standard output")
	o.Flags(cmd)
	o.diffFlag(cmd)
	return &SampleCommand{cmd, &o, nil}
}
