package html

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis"
	"github.com/etwgen/etwgen/analysis/alloc"
	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/counters"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/handles"
	"github.com/etwgen/etwgen/analysis/heap"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/loader"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/runtimes"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
	"github.com/etwgen/etwgen/internal/chromium"
	"github.com/etwgen/etwgen/internal/testio"
)

// emptyResult is the result of a trace without events.
func emptyResult() *analysis.Result {
	return &analysis.Result{Runtimes: &runtimes.Result{}, GC: &gc.Result{}, Alloc: &alloc.Result{}, JIT: &jit.Result{}, Exceptions: &exceptions.Result{},
		Contention: &contention.Result{}, Waits: &waits.Result{}, ThreadPool: &threadpool.Result{}, Loader: &loader.Result{}, Handles: &handles.Result{},
		Heap: &heap.Result{}, Requests: &requests.Result{}, Counters: &counters.Result{}}
}

// manyGCs is a runtime with n collections.
func manyGCs(pid int64, n int) *gc.Runtime {
	rnd := rand.New(rand.NewPCG(1, uint64(pid)))
	rt := &gc.Runtime{PID: pid, SpanMS: float64(n) * 5, Count: n, All: gc.Rollup{Count: n}}
	rt.ByGeneration = []gc.Rollup{{Generation: 0}, {Generation: 1}, {Generation: 2}}
	var pauses []float64
	for i := range n {
		pause := 0.2 + rnd.ExpFloat64()*3
		g := &gc.GC{Number: uint32(i + 1), Generation: gc.Generation(min(rnd.IntN(12)/5, 2)), Kind: gc.Blocking, Reason: "AllocSmall",
			StartMS: float64(i)*5 + rnd.Float64(), BeginMS: measure.Known(float64(i)*5 + 1), PauseMS: measure.Known(pause), DurationMS: measure.Known(pause * 0.9),
			SuspendMS: measure.Known(rnd.Float64() / 10), BeforeMB: measure.Known(100), AfterMB: measure.Known(60 + 20*rnd.Float64()),
			PromotedMB: measure.Known(10), AllocationRateMBPerSec: measure.Known(500 * rnd.Float64())}
		if i%97 == 0 {
			g.Generation, g.Kind, g.Reason = 2, gc.Background, "Induced"
		}
		for gen := range 5 {
			g.Generations = append(g.Generations, gc.GenerationSizes{Generation: gc.Generation(gen), AfterMB: measure.Known(g.AfterMB.Or(0) / 5)})
		}
		pauses = append(pauses, pause)
		rt.PauseMS += pause
		rt.GCs = append(rt.GCs, g)
	}
	rt.PausePercent = measure.Known(100 * rt.PauseMS / rt.SpanMS)
	rt.All.PauseMS = measure.Summarize(pauses)
	return rt
}

// written writes a page to a file.
func written(t *testing.T, r *Report) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	f := testio.Create(t, path)
	defer f.Close()
	if err := r.Write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBrowser(t *testing.T) {
	c := chromium.Start(t)
	t.Run("recorded", func(t *testing.T) { testRecorded(t, c) })
	t.Run("20,000 collections", func(t *testing.T) { testMany(t, c) })
	t.Run("hostile names", func(t *testing.T) { testHostile(t, c) })
	t.Run("two processes", func(t *testing.T) { testProcesses(t, c) })
	t.Run("widths", func(t *testing.T) { testWidths(t, c) })
	t.Run("timeline", func(t *testing.T) { testTimeline(t, c) })
	t.Run("causes", func(t *testing.T) { testCauses(t, c) })
	t.Run("flame", func(t *testing.T) { testFlame(t, c) })
	t.Run("print", func(t *testing.T) { testPrint(t, c) })
}

// testRecorded looks at pages of recorded traces, in light and dark, wide and
// narrow.
func testRecorded(t *testing.T, c *chromium.Browser) {
	for _, name := range []string{"gc", "alloc", "jit", "exceptions", "threads", "heapdump"} {
		path := written(t, recordedReport(t, name+".nettrace"))
		for _, look := range []struct {
			theme string
			width int
		}{{"light", 1280}, {"dark", 400}} {
			if look.theme == "dark" && name != "gc" {
				continue // as that one
			}
			b := c.Open(t, "file://"+path, look.theme, look.width, 900)
			if n := b.Drawn(); n == 0 && name != "heapdump" {
				t.Errorf("%s: no chart", name)
			}
			b.Want(`document.documentElement.scrollWidth <= innerWidth`, "true")
			b.Want(`/\[object|\\u00a0/.test(document.getElementById("page").textContent)`, "false")
			b.Want(`document.querySelectorAll("dl.pairs dt").length > 1`, "true")
			for _, selector := range []string{"p", "td", ".tile .note", ".tag", "nav a", "th button", ".lead"} {
				if least := b.Contrast(selector + ", h2"); least < 4.5 {
					t.Errorf("%s, %s: the contrast of %s is %.1f", name, look.theme, selector, least)
				}
			}
			b.Quiet()
		}
	}
}

// rows are the numbers of the collections that a table shows.
const rows = `[...document.querySelectorAll("#table-gc-collection tr.data td:first-child")].map(e => e.textContent)`

func testMany(t *testing.T, c *chromium.Browser) {
	res := emptyResult()
	res.GC.Runtimes = []*gc.Runtime{manyGCs(1, 20_000)}
	b := c.Open(t, "file://"+written(t, &Report{Title: "many", Result: res}), "light", 1200, 900)
	if n := b.Drawn(); n != 4 {
		t.Errorf("%d charts", n)
	}
	b.Want(rows+`.join()`, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25")
	b.Want(`document.querySelector("#table-gc-collection .foot").firstChild.textContent`, "20,000 rows")

	// Sorted by the pause, the longest first, then the shortest, then not at all.
	pauses := `[...document.querySelectorAll("#table-gc-collection tr.data")].map(e => Number(e.children[6].textContent))`
	header := `document.querySelectorAll("#table-gc-collection thead button")[6]`
	longest := fmt.Sprintf("%.3f", res.GC.Runtimes[0].All.PauseMS.Max.Or(0))
	b.Eval(header+".click()", nil)
	b.Want(pauses+`[0].toFixed(3)`, longest)
	b.Want(`(p => p.every((v, i) => !i || v <= p[i-1]))(`+pauses+`)`, "true")
	b.Want(header+`.parentElement.getAttribute("aria-sort")`, "descending")
	b.Eval(header+".click()", nil)
	b.Want(`(p => p.every((v, i) => !i || v >= p[i-1]))(`+pauses+`)`, "true")
	b.Eval(header+".click()", nil)
	b.Want(rows+`[0]`, "1")

	// The filter takes conditions and words.
	filter := func(text string) {
		b.Eval(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector("#table-gc-collection input"))`, text), nil)
		b.Settle()
	}
	filter("number>=100 number<103")
	b.Want(rows+`.join()`, "100,101,102")
	filter("background induced")
	b.Want(`document.querySelector("#table-gc-collection .foot").firstChild.textContent`, "207 of 20,000 rows")
	filter("nothing has this")
	b.Want(`document.querySelector("#table-gc-collection .empty").textContent`, "No row passes the filter.")
	filter("")

	// The keyboard walks over rows and pages, and opens a row.
	b.Eval(`document.querySelector("#table-gc-collection tr.data").focus()`, nil)
	b.Press("End")
	b.Want(`document.activeElement.firstChild.textContent`, "20000")
	b.Press("ArrowUp")
	b.Press("Enter")
	b.Want(`document.activeElement.firstChild.textContent + document.activeElement.getAttribute("aria-expanded")`, "19999true")
	b.Want(`document.activeElement.nextSibling.className`, "more")

	testOptions(b)
	testPoints(t, b)
	testZoom(t, b)
	b.Quiet()
}

// testPoints checks that a point leads to its row, by mouse and keyboard.
func testPoints(t *testing.T, b *chromium.Tab) {
	b.Center("#chart-pauses .plot")
	b.Eval(`document.querySelector("#chart-pauses .plot").focus({preventScroll: true})`, nil)
	b.Press("End")
	b.Press("ArrowLeft")
	b.Want(`document.querySelector("#chart-pauses .tip").textContent.includes("No. 19999")`, "true")
	b.Press("Enter")
	b.Want(`document.querySelector("#table-gc-collection tr.chosen td").textContent`, "19999")
	b.Want(`(r => r.top > 0 && r.bottom < innerHeight)(document.activeElement.getBoundingClientRect())`, "true")

	// Where the ring is, the mouse finds the same point.
	b.Center("#chart-pauses .plot")
	b.Eval(`document.querySelector("#chart-pauses .plot").focus({preventScroll: true})`, nil)
	b.Press("Home")
	var at []float64
	b.Eval(`(r => [r.left + r.width / 2, r.top + r.height / 2])(document.querySelector("#chart-pauses .ring").getBoundingClientRect())`, &at)
	b.Click(at[0], at[1])
	b.Want(`Number(document.querySelector("#table-gc-collection tr.chosen td").textContent) < 200`, "true")
	b.Want(`(r => r.top > 0 && r.bottom < innerHeight)(document.activeElement.getBoundingClientRect())`, "true")
}

// testOptions draws pauses by powers of ten, and without a kind of collections.
func testOptions(b *chromium.Tab) {
	b.Eval(`document.querySelector("#chart-pauses .option").click()`, nil)
	b.Settle()
	b.Want(`document.querySelector("#chart-pauses .option").getAttribute("aria-pressed")`, "true")
	b.Drawn()
	b.Eval(`document.querySelectorAll("#chart-pauses .legend button").forEach((e, i) => { if (i) e.click(); })`, nil)
	b.Settle()
	b.Want(`[...document.querySelectorAll("#chart-pauses .legend button")].map(e => e.getAttribute("aria-pressed")).join()`, "true,false,false,false")
	b.Drawn()
	b.Eval(`document.querySelectorAll("#chart-pauses .legend button, #chart-pauses .option").forEach(e => { if (e.getAttribute("aria-pressed") === (e.className === "option" ? "true" : "false")) e.click(); })`, nil)
	b.Settle()
}

// testZoom drags over a chart and checks that the table follows.
func testZoom(t *testing.T, b *chromium.Tab) {
	x, y := b.Center("#chart-pauses .u-over")
	b.Drag(x-50, y, x+50, y)
	b.Want(`document.querySelector(".zoom").classList.contains("hidden")`, "false")
	b.Want(`/^only [\d.]+ to [\d.]+ s$/.test(document.querySelector("#table-gc-collection .chip").textContent)`, "true")
	b.Want(`/ of 20,000 rows$/.test(document.querySelector("#table-gc-collection .foot").firstChild.textContent)`, "true")
	b.Drawn()
	b.Press("Escape")
	b.Want(`document.querySelector(".zoom").classList.contains("hidden")`, "true")
	b.Want(`document.querySelector("#table-gc-collection .foot").firstChild.textContent`, "20,000 rows")
}

func testHostile(t *testing.T, c *chromium.Browser) {
	r := hostileReport()
	b := c.Open(t, "file://"+written(t, r), "light", 1200, 900)
	b.Want(`typeof window.pwned`, "undefined")
	b.Want(`document.querySelectorAll("main img, main script, main a[href^=javascript]").length`, "0")
	for _, name := range hostileNames {
		shown := strings.Join(strings.Fields(clean(name)), " ")
		var found bool
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll("#table-exceptions-type td")].some(e => e.textContent.split(/\s+/).filter(w => w).join(" ") === %s)`, jsString(shown)), &found)
		if !found {
			t.Errorf("no row shows %q", shown)
		}
	}
	b.Eval(`document.querySelectorAll("#table-exceptions-exception tr.data").forEach(e => e.click())`, nil)
	b.Want(`typeof window.pwned`, "undefined")
	b.Quiet()
}

func testProcesses(t *testing.T, c *chromium.Browser) {
	res := emptyResult()
	res.GC.Runtimes = []*gc.Runtime{manyGCs(7, 30), manyGCs(8, 60)}
	b := c.Open(t, "file://"+written(t, &Report{Title: "two", Result: res, Processes: map[int64]Process{7: {Name: "baker"}}}), "dark", 900, 800)
	b.Want(`[...document.querySelectorAll("select option")].map(e => e.textContent).join()`, "Process 8,baker (7)")
	b.Want(`document.querySelector(".who h2").textContent`, "Process 8")
	b.Eval(`(e => { e.value = 1; e.dispatchEvent(new Event("change")); })(document.querySelector("select"))`, nil)
	b.Settle()
	b.Want(`document.querySelector(".who h2").textContent`, "baker (7)")
	b.Want(`document.querySelector("#table-gc-collection .foot").firstChild.textContent`, "30 rows")
	b.Eval(`document.querySelector("#table-overview tr.data").click()`, nil)
	b.Settle()
	b.Want(`document.querySelector(".who h2").textContent`, "Process 8")
	if n := b.Drawn(); n != 4 {
		t.Errorf("%d charts", n)
	}
	b.Eval(`[...document.querySelectorAll(".top button")].find(e => e.textContent === "Light").click()`, nil)
	b.Want(`getComputedStyle(document.body).colorScheme + getComputedStyle(document.documentElement).colorScheme`, "lightlight")
	b.Quiet()
}

// testWidths: a table that is wider than the page is drawn closer, and one that still is has an
// edge that says so until it is scrolled to its end.
func testWidths(t *testing.T, c *chromium.Browser) {
	res := emptyResult()
	res.GC.Runtimes = []*gc.Runtime{manyGCs(7, 30), manyGCs(8, 60)}
	b := c.Open(t, "file://"+written(t, &Report{Title: "two", Result: res}), "light", 1280, 800)
	const table = `document.querySelector("#table-overview table")`
	const fits = table + `.parentNode.scrollWidth <= ` + table + `.parentNode.clientWidth`
	const state = table + `.className + "," + ` + table + `.parentNode.className`
	for _, at := range []struct {
		width int
		state string
		fits  bool
	}{{1280, ",scroll", true}, {700, "dense,scroll", true}, {300, "dense,scroll cut", false}, {1280, ",scroll", true}} {
		b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": at.width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.Settle()
		b.Want(state, at.state)
		b.Want(fits, strconv.FormatBool(at.fits))
		if at.fits {
			continue
		}
		b.Eval(table+`.parentNode.scrollLeft = 10000`, nil)
		b.Settle()
		b.Want(state, "dense,scroll")
	}
	b.Quiet()
}

func testPrint(t *testing.T, c *chromium.Browser) {
	b := c.Open(t, "file://"+written(t, recordedReport(t, "gc.nettrace")), "dark", 1280, 900)
	var pdf struct{ Data string }
	b.Call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &pdf)
	if len(pdf.Data) < 20_000 {
		t.Errorf("what is printed has %d bytes", len(pdf.Data))
	}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 700, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Eval(`dispatchEvent(new Event("beforeprint"))`, nil)
	b.Settle()
	b.Want(`document.documentElement.scrollWidth <= 700`, "true")
	b.Want(`[...document.querySelectorAll("nav, .top button, .pages, .tablehead input")].every(e => getComputedStyle(e).display === "none")`, "true")
	b.Want(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
	b.Want(`[...document.querySelectorAll("canvas")].every(e => e.getBoundingClientRect().right <= 700)`, "true")
	b.Drawn()
	b.Eval(`dispatchEvent(new Event("afterprint"))`, nil)
	b.Want(`document.documentElement.dataset.theme`, "undefined")
	b.Quiet()
}
