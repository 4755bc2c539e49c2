package ask

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// images is the side of processes that shows the images in them.
func images() *Question {
	return &Question{
		name:  "images",
		short: "show the programs and libraries in processes, and their symbols",
		views: viewsOf(new(system.ImagesResult)),
		Needs: []need.Need{need.Images},
		ask: func(mux *etw.Mux) answer {
			m := system.Of(mux)
			return aboutMachine(mux, func(is chosen) *system.ImagesResult {
				res := m.ImagesResult()
				res.Images = order.Delete(res.Images, func(i system.ImageFacts) bool { return !is(i.PID, i.Process) })
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
