package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/etwgen/etwgen/internal/chromium"
)

// TestViewDrags measures how long a window takes, from the end of the drag to the picture, in a
// trace such as tests/bench/large writes, whose path ETWGEN_LARGE is. It is no test of speed: a
// busy machine would fail it.
func TestViewDrags(t *testing.T) {
	trace := os.Getenv("ETWGEN_LARGE")
	if trace == "" {
		t.Skip("ETWGEN_LARGE is not the path of a large trace")
	}
	start := time.Now()
	b := &viewTab{chromium.Start(t).Open(t, startView(t, trace)+"stacks", "light", 1400, 900), t}
	b.until(`document.querySelector("tr.data") && document.querySelector(".strip .lanebox canvas") && !document.querySelector(".view.old")`)
	b.Eval(`(() => {
		const sum = () => document.querySelector(".scope .sum")?.textContent;
		addEventListener("pointerup", () => {
			const began = performance.now(), before = sum();
			window.took = 0;
			const look = () => sum() !== before && !document.querySelector(".view.old")
				? requestAnimationFrame(() => window.took = performance.now() - began) : requestAnimationFrame(look);
			requestAnimationFrame(look);
		}, true);
	})()`, nil)
	t.Log(time.Since(start))
	random := rand.New(rand.NewPCG(1, 2))
	var took []float64
	for range 60 {
		b.Eval("document.activeElement.blur()", nil)
		for range 2 {
			b.Press("Escape")
		}
		b.until(`!location.search.includes("from=") && !document.querySelector(".view.old")`)
		var at []float64
		b.Eval(`(r => [r.left, r.top + 20, r.width])(document.querySelector(".strip .lanebox").getBoundingClientRect())`, &at)
		from, to := random.Float64()*0.8+0.1, random.Float64()*0.8+0.1
		if max(from, to)-min(from, to) < 0.02 {
			continue
		}
		b.Drag(at[0]+at[2]*min(from, to), at[1], at[0]+at[2]*max(from, to), at[1])
		b.until("window.took > 0")
		var ms float64
		b.Eval("window.took", &ms)
		b.Eval("window.took = 0", nil)
		took = append(took, ms)
	}
	t.Logf("first %.0f", took[:3])
	slices.Sort(took)
	t.Logf("%d windows: median %.0f ms, 95%% under %.0f ms, longest %.0f ms", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
}
