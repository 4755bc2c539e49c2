package ship

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/look"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/export/parquet"
)

// eventForms export events as dump prints them, a file for each type of them.
func eventForms() (list []exportForm) {
	for _, name := range []string{show.FormatCSV, show.FormatJSON, show.FormatJSONL} {
		list = append(list, exportForm{
			name: name, own: slices.Concat(eventFlags, []string{"children"}),
			whole: func(o *exporting, cmd *cobra.Command, args []string) error { return o.events(cmd, args) },
		})
	}
	return list
}

// events exports all traces as one, to files in a folder.
func (o *exporting) events(cmd *cobra.Command, args []string) error {
	if o.path == "" {
		return cli.Usagef("--output is required: the folder, which is made if there is none, of a file for each type of event")
	}
	if ext := filepath.Ext(o.path); ext == "."+o.form.name || o.path == "-" {
		return cli.Usagef("--output %s: it is a folder, of a file for each type of event; etw dump --format %s prints all of them as one", o.path, o.form.name)
	}
	s := &look.Split{In: o.in, Sel: o.sel, Format: o.form.name, Folder: o.path, Name: parquet.TypeName}
	err := s.Run(cmd, args)
	if err != nil && err != cli.ErrReported {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s, %s, %s\n", show.Count(s.Events, "event", "events"), show.Count(s.Files, "file", "files"), show.Size(float64(s.Bytes)))
	return err
}
