package ask

import (
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/runtime/etw"
)

// NewImages returns the command that shows images.
func NewImages() *Question {
	return &Question{
		name:  "images",
		short: "Show the programs and libraries in processes, and their symbols",
		Long: `Images shows the programs and libraries that were loaded in each process, where they
lay and when, and what identifies them and their symbols. Those of the kernel, which
all processes share, are those of process 0.

The rows are images in processes, or files by --by file.`,
		example: `  etw images machine.etl
  etw images --by file --top 10 machine.etl
  etw images --process app.exe --format csv machine.etl
  etw images --format json machine.etl | jq -r '.images[].path'`,
		views:   viewsOf(new(system.ImagesResult)),
		missing: "the trace tells of no images; how to record one that does, etw record-help wpr says",
		ask: func(mux *etw.Mux) answer {
			m := system.Of(mux)
			return aboutMachine(mux, func(chosen filter.Numbers) *system.ImagesResult {
				res := m.ImagesResult()
				res.Images = slices.DeleteFunc(res.Images, func(i system.ImageFacts) bool { return !chosen.Has(i.PID) })
				return res
			}, imageTotals)
		},
	}
}

func imageTotals(p *page, res *system.ImagesResult) {
	kernel := 0
	for i := range res.Images {
		if res.Images[i].Process == system.KernelName {
			kernel++
		}
	}
	text := show.Count(len(res.Images), "image", "images")
	if kernel > 0 {
		text += fmt.Sprintf(", %d of them of the kernel", kernel)
	}
	fmt.Fprintln(p, text)
}
