package pick

import (
	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/runtime/perfdata"
	"github.com/etwgen/etwgen/trace"
)

// withCode has copies of stacks in a trace unwound by files in places where names of code are
// looked for: the folder of --symbols, and the folders in which this machine keeps programs.
// Others than the user have the folder alone, and --no-symbols has none.
func withCode(cmd *cobra.Command) trace.Option {
	text := func(flag string) string {
		if f := cmd.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	var files *native.Dir
	return trace.WithCode(func(c perfdata.Code) perfdata.CodeFile {
		if files == nil {
			var options []native.Option
			if !cli.ForAssistant(cmd) && text("no-symbols") != "true" {
				options = append(options, native.Usual(show.UsualPlaces()))
			}
			// A folder that cannot be opened is reported where names are looked for.
			files, _ = native.Open(text("symbols"), options...)
		}
		if f := files.Code(c.Path, c.BuildID, c.Device); f != nil {
			return f
		}
		return nil
	})
}
