package ship

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
)

// chromeForm exports the events over time.
var chromeForm = exportForm{
	name: "chrome", suffixes: []string{".trace.json", ".perfetto.json"},
	own: []string{"children", "tid"},
	whole: func(o *exporting, cmd *cobra.Command, args []string) error {
		return code.WriteChrome(cmd, &o.in, &o.sel, args, o.path)
	},
}

// firefoxForm exports samples with the events beside them.
func firefoxForm() exportForm {
	return exportForm{
		name: "firefox", suffixes: []string{".firefox.json", ".profile.json"}, own: frameFlags(),
		whole: func(o *exporting, cmd *cobra.Command, args []string) error {
			o.profiling.Within(o.in, &o.sel)
			return o.profiling.WriteFirefox(cmd, args, o.path)
		},
	}
}

// frameFlags are the flags that choose samples and frames.
func frameFlags() []string {
	names := []string{"children"}
	flags := new(cobra.Command)
	new(code.Profiling).FrameFlags(flags)
	flags.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// profileForms export the samples of call stacks.
func profileForms() []exportForm {
	frames := frameFlags()
	var list []exportForm
	for _, form := range code.ProfileForms {
		list = append(list, exportForm{
			name: form.Name, suffixes: form.Suffixes, own: frames,
			whole: func(o *exporting, cmd *cobra.Command, args []string) error {
				o.profiling.Within(o.in, &o.sel)
				if err := o.profiling.Check(); err != nil {
					return err
				}
				return form.Write(&o.profiling, cmd, args, o.path)
			},
		})
	}
	return list
}
