package ship

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// hostOf returns the machine that the kernel of Windows names in a trace itself. It is empty
// if nothing tells.
func (o *exporting) hostOf(cmd *cobra.Command, path string, f *trace.File) string {
	if f.Head().Recorder != trace.Windows {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "" // it can be read only once
	}
	opts, err := o.in.Options(cmd)
	if err != nil {
		return ""
	}
	t, err := trace.Open(path, append(opts, trace.WithoutAttribution(), trace.WithoutSchemas())...)
	if err != nil {
		return ""
	}
	defer t.Close()
	return computerOf(t, f.Name())
}

// computerOf reads a trace up to the first event that names the machine. The kernel writes it
// at the begin, or at the end, with other facts about the machine.
func computerOf(t *trace.Trace, file string) string {
	var mux etw.Mux
	name := ""
	etw.Handle(&mux, func(_ *etw.Record, e *kernel.AnySystemConfigCPU) error {
		text, _, _ := strings.Cut(e.ComputerName.String(), "\x00")
		name = strings.TrimSpace(text)
		return nil
	})
	for r, err := range t.Records() {
		if err == nil && r.Kind == etw.KindClassic && r.File == file {
			mux.Dispatch(r) // what does not fit names nothing
		}
		if name != "" {
			break
		}
	}
	return name
}
