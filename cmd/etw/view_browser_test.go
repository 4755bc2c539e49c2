package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/chromium"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// A viewTab is a tab that shows a trace.
type viewTab struct {
	*chromium.Tab
	t *testing.T
}

// until waits for an expression to be true. How long that takes is no measure.
func (b *viewTab) until(expr string) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; b.Settle() {
		var ok bool
		if b.Eval("Boolean("+expr+")", &ok); ok {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("it does not come to %s; the page has %q", expr, b.Text("document.body.innerText.slice(0, 2000)"))
		}
	}
}

// TestViewBrowser walks through the page as people would.
func TestViewBrowser(t *testing.T) {
	c := chromium.Start(t)
	trace := "../../tests/recorded/causes/cause-10.nettrace.gz"
	address := startView(t, trace)
	b := &viewTab{c.Open(t, address+"overview", "light", 1400, 900), t}
	b.until(`document.querySelectorAll(".findings li").length > 2 && document.querySelector(".lanebox canvas")`)
	b.Drawn()

	// A window that is dragged is in the address, and the figures are those of the command.
	b.Eval(`document.querySelector("nav a:nth-child(2)").click()`, nil)
	b.until(`location.pathname.endsWith("/stacks") && document.querySelector("tr.data")`)
	whole := b.Text(`document.querySelector(".scope .sum").textContent`)
	var at []float64
	b.Eval(`(r => [r.left, r.top + 20, r.width])(document.querySelector(".strip .lanebox").getBoundingClientRect())`, &at)
	b.Drag(at[0]+at[2]*0.5, at[1], at[0]+at[2]*0.75, at[1])
	b.until(`location.search.includes("from=") && document.querySelector(".scope .sum").textContent !== ` + jsonText(whole))
	testWindowTotals(t, b, trace)

	// Enter goes to the callers of a method, and Back to where one was.
	before := b.Text("location.search")
	b.Eval(`document.querySelector("table.grid").focus()`, nil)
	b.Press("ArrowDown")
	b.until(`document.querySelector("aside h2")`)
	b.Press("Enter")
	b.until(`location.pathname.endsWith("/stacks/callers") && document.querySelectorAll(".flameview canvas").length === 2`)
	b.Eval("history.back()", nil)
	b.until(`location.pathname.endsWith("/stacks") && document.querySelector("tr.data")`)
	b.Want("location.search", before)

	// Escape takes the window away; keys lead to all views.
	b.Eval("document.activeElement.blur()", nil)
	b.Press("Escape")
	b.Press("Escape")
	b.until(`!location.search.includes("from=")`)
	for _, step := range [][2]string{{"1", "overview"}, {"3", "requests"}, {"4", "gc"}, {"5", "heap"}, {"9", "events"}, {"2", "stacks"}} {
		key, want := step[0], step[1]
		b.Eval("document.activeElement.blur()", nil)
		b.Press(key)
		b.until(fmt.Sprintf(`location.pathname.endsWith("/%s") && !document.querySelector(".view.old")`, want))
	}
	b.Press("l")
	b.until(`location.pathname.endsWith("/stacks/flame") && document.querySelector(".flameview canvas")`)
	b.Drawn()
	testSaved(t, b)
	b.Quiet()
}

// testSaved saves the figure that is shown: it is SVG that has boxes with names.
func testSaved(t *testing.T, b *viewTab) {
	t.Helper()
	b.Eval(`{ const make = URL.createObjectURL; URL.createObjectURL = x => { x.text().then(text => { window.saved = text; }); return make(x); };
		const list = document.querySelector("footer select"); list.value = "svg"; list.dispatchEvent(new Event("change")); }`, nil)
	b.until("window.saved")
	var boxes, names int
	for d := xml.NewDecoder(strings.NewReader(b.Text("saved"))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			if x.Name.Local == "rect" {
				boxes++
			}
		case xml.CharData:
			if strings.Contains(string(x), "Program.") {
				names++
			}
		}
	}
	if boxes < 100 || names < 2 {
		t.Errorf("%d boxes, %d of them with names of the program", boxes, names)
	}
}

// TestViewRequests holds the views of requests and collections against the output of the commands.
func TestViewRequests(t *testing.T) {
	c := chromium.Start(t)
	trace := "../../tests/recorded/causes/cause-10.nettrace.gz"
	address := startView(t, trace)
	_, stdout, _ := runTool("requests", "--by", "endpoint", "--format", "json", trace)
	var doc struct {
		Processes []struct{ Stopped int }
		Rows      []struct {
			Endpoint string
			Count    int
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Processes) != 1 || len(doc.Rows) < 2 {
		t.Fatalf("%v: %s", err, stdout)
	}
	b := &viewTab{c.Open(t, address+"requests", "dark", 1400, 900), t}
	b.until(`document.querySelectorAll(".grid").length === 2`)
	b.Drawn()
	b.Want(`document.querySelector(".scope .sum").textContent`, fmt.Sprintf("%d ended, 0 not over", doc.Processes[0].Stopped))

	// Enter on an endpoint keeps its requests, the keys walk the dots, and the pane says of
	// one where its time went.
	b.Eval(`document.querySelector("table.grid").focus()`, nil)
	b.Press("ArrowDown")
	b.until(`document.querySelector("aside h2")`)
	first := doc.Rows[0]
	b.Want(`document.querySelector("aside h2").textContent`, first.Endpoint)
	b.Press("Enter")
	b.until(`location.search.includes("route=") && document.querySelector("h2 + .block .tablehead span").textContent === ` + jsonText(fmt.Sprintf("%d rows", first.Count)))
	b.Eval(`document.querySelector(".points").focus()`, nil)
	for range first.Count + 2 { // the last one stays
		b.Press("ArrowRight")
	}
	b.until(`document.querySelector("aside h3") && document.querySelectorAll("aside .part").length > 0`)
	b.Want(`document.querySelector("aside h2").textContent`, first.Endpoint)
	b.Eval("history.back()", nil)
	b.until(`!location.search.includes("route=") && document.querySelectorAll(".grid").length === 2`)
	b.Quiet()

	b = &viewTab{c.Open(t, startView(t, "../../tests/recorded/gc.nettrace")+"gc", "light", 760, 900), t}
	b.until(`document.querySelectorAll(".points canvas").length === 2 && document.querySelector("tr.data")`)
	_, stdout, _ = runTool("gc", "--format", "csv", "../../tests/recorded/gc.nettrace")
	b.Want(`document.querySelector(".scope .sum").textContent.split(" collections")[0]`, fmt.Sprint(strings.Count(strings.TrimSpace(stdout), "\n")))
	b.Eval(`document.querySelector(".points").focus()`, nil)
	b.Press("End")
	b.until(`document.querySelector("tr.chosen") && document.querySelector("aside h2")`)
	b.Quiet()
}

// TestViewHeap asks who holds the type that retains most, and has the output of the command.
func TestViewHeap(t *testing.T) {
	c := chromium.Start(t)
	trace := "../../tests/recorded/heapdump.nettrace"
	b := &viewTab{c.Open(t, startView(t, trace)+"heap", "light", 1400, 900), t}
	b.until(`document.querySelector("tr.data")`)
	b.Eval(`document.querySelector("table.grid").focus()`, nil)
	b.Press("ArrowDown")
	b.until(`document.querySelectorAll("aside .part").length > 1`)
	name := b.Text(`document.querySelector("aside h2").textContent`)
	_, stdout, _ := runTool("heap", "--by", "holder", "--holding", name, "--format", "json", trace)
	var doc struct {
		Rows []struct{ Type, Name string }
	}
	testio.JSON(t, stdout, &doc)
	var names []string
	for _, r := range doc.Rows {
		if r.Type == name {
			names = append(names, r.Name)
		}
	}
	b.Want(`[...document.querySelectorAll("aside .part bdi")].map(e => e.textContent).join("|")`, strings.Join(names, "|"))
	b.Quiet()
}

// TestViewCompare shows two traces side by side.
func TestViewCompare(t *testing.T) {
	c := chromium.Start(t)
	before, after := "../../tests/recorded/threads.nettrace", "../../tests/recorded/causes/cause-10.nettrace.gz"
	_, stdout, _ := runTool("top", "--format", "json", "--diff", before, after)
	var doc struct {
		Rows []struct {
			Full     string
			ChangeMS float64 `json:"changeMs"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Rows) == 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	b := &viewTab{c.Open(t, startView(t, before, after)+"compare", "dark", 1400, 900), t}
	b.until(`document.querySelector("tr.data")`)
	b.Want(`document.querySelector("tr.data td").title`, doc.Rows[0].Full)
	b.Want(`document.querySelector("tr.data .num").title`, fmt.Sprint(doc.Rows[0].ChangeMS))
	b.Want(`document.querySelector("footer code").textContent`, "etw top --diff=threads.nettrace cause-10.nettrace.gz")

	// The figures of an area are those of the command.
	_, stdout, _ = runTool("compare", "--all", "--format", "json", before, after)
	var all struct{ Measures []struct{ Area string } }
	if err := json.Unmarshal([]byte(stdout), &all); err != nil || len(all.Measures) == 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	n := 0
	for _, m := range all.Measures {
		if m.Area == "collections" {
			n++
		}
	}
	b = &viewTab{c.Open(t, startView(t, before, after)+"compare/collections", "light", 1400, 900), t}
	b.until(`document.querySelector("tr.data")`)
	b.Want(`document.querySelector(".tablehead span").textContent`, fmt.Sprintf("%d rows", n))
	b.Want(`document.querySelector("footer code").textContent`, "etw compare --all threads.nettrace cause-10.nettrace.gz")
}

// TestViewCounters has a chart of each counter whose values over time are known.
func TestViewCounters(t *testing.T) {
	c := chromium.Start(t)
	trace := "../../tests/recorded/answers/counters-10.nettrace"
	_, stdout, _ := runTool("counters", "--format", "csv", trace)
	b := &viewTab{c.Open(t, startView(t, trace)+"counters", "light", 1400, 900), t}
	b.until(`document.querySelector("tr.data")`)
	b.Drawn()
	b.Want(`document.querySelectorAll(".charts canvas").length`, fmt.Sprint(strings.Count(strings.TrimSpace(stdout), "\n")))
	b.Quiet()
}

// TestViewSource goes from a line to its file, by keys alone: the line that weighs most is chosen.
func TestViewSource(t *testing.T) {
	c := chromium.Start(t)
	trace, folder, _, _ := ovenFiles(t)
	b := &viewTab{c.Open(t, startView(t, "--symbols", folder, trace)+"stacks/lines", "light", 1400, 900), t}
	b.until(`document.querySelector("tr.data")`)
	b.Eval(`document.querySelector("table.grid").focus()`, nil)
	b.Press("ArrowDown")
	b.until(`document.querySelector("aside h2")`)
	b.Press("u")
	b.until(`location.search.includes("source=") && document.querySelector("tr.chosen code.source")`)
	_, stdout, _ := runTool("top", "--by", "line", "--symbols", folder, "--format", "json", trace)
	var doc struct{ Rows []struct{ Line int } }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Rows) == 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	line := doc.Rows[0].Line
	b.Want(`document.querySelector("tr.chosen td").textContent`, fmt.Sprint(line))
	b.Want(`document.querySelector("tr.chosen code.source").textContent`, strings.Split(ovenSource, "\n")[line-1])
	b.Press("n")
	b.until(`location.pathname.endsWith("/names") && !location.search.includes("source=") && document.querySelector("tr.data")`)
	b.Quiet()
}

func jsonText(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// testWindowTotals holds the sum that the page shows against that of the command.
func testWindowTotals(t *testing.T, b *viewTab, trace string) {
	t.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(b.Text("location.search"), "?"))
	if err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := runTool("top", "--format", "json", "--from", q.Get("from"), "--to", q.Get("to"), trace)
	var doc struct {
		Totals []float64
		Rows   []struct {
			Method string
			SelfMS float64 `json:"selfMs"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Rows) == 0 {
		t.Fatalf("%v: %s", err, stdout)
	}
	if sum := b.Text(`document.querySelector(".scope .sum").textContent`); !strings.Contains(sum, fmt.Sprintf(" in %.0f samples", doc.Totals[0])) {
		t.Errorf("the page says %q, the command %v", sum, doc.Totals)
	}
	if title := b.Text(`document.querySelector("tr.data .num").title`); title != strings.TrimSpace(fmt.Sprint(doc.Rows[0].SelfMS)) {
		t.Errorf("the first method has %s, not %v", title, doc.Rows[0].SelfMS)
	}
}

// TestViewHostile shows a trace whose names are markup: nothing of it runs.
func TestViewHostile(t *testing.T) {
	c := chromium.Start(t)
	path := filepath.Join(t.TempDir(), "<img src=x onerror=caught=1>.nettrace")
	f := testio.Create(t, path)
	clock := etw.Clock{Frequency: 1e9, Start: 133e15}
	w, err := nettrace.NewWriter(f, nettrace.Header{Version: 4, PointerSize: etw.Ptr64, Clock: clock, ProcessID: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		e := clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16(`<script>caught=1</script>`), ExceptionMessage: etw.MakeUTF16("\u202e<b onclick=alert(1)>")}
		payload := testio.Payload(t, &e, etw.Ptr64)
		d := e.EventDesc()
		r := etw.Record{
			Kind: etw.KindManifest, Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Level: d.Level, Keywords: d.Keywords, PointerSize: etw.Ptr64,
			ProcessID: 7, ThreadID: 8, Timestamp: int64(i) * 1e6, Clock: &clock, Payload: payload,
		}
		testio.Add(t, w, &r)
	}
	testio.Close(t, w)
	f.Close()
	address := startView(t, path)
	for _, view := range []string{"overview", "answers/exceptions?by=message", "events", "stacks/names?of=exceptions"} {
		b := &viewTab{c.Open(t, address+view, "dark", 900, 800), t}
		b.until(`document.querySelector(".view").children.length && !document.querySelector(".view.old")`)
		b.Want(`typeof caught`, "undefined")
		b.Want(`document.querySelectorAll("img, b, .view script").length`, "0")
		b.Quiet()
	}
}

// TestViewSays: a window of one end has no other one, a figure that mostly waits says so and hides that,
// and lanes of one task of several providers have names of their own.
func TestViewSays(t *testing.T) {
	address := startView(t, "../../tests/recorded/causes/cause-10.nettrace.gz")
	b := &viewTab{chromium.Start(t).Open(t, address+"stacks/flame?from=0m0.1s", "light", 1400, 900), t}
	b.until(`/^(0m0.1s|100 ms) to (the end|[\d.]+ s)×$/.test(document.querySelector(".scope .chip")?.textContent)`)
	b.until(`/^\d+ % of it waits\. Hide$/.test(document.querySelector(".view > p.soft")?.textContent)`)
	b.Eval(`document.querySelector(".view > p.soft button").click()`, nil)
	b.until(`location.search.includes("exclude=") && !document.querySelector(".view > p.soft") && document.querySelector(".flameview canvas")`)
	b.Eval(`import(document.baseURI + "app/lanes.js").then(m => {
		const lane = of => ({ kind: "requests", of, pid: 1, unit: "count", how: "sum", total: 1, highest: 1, values: [1] });
		const lanes = ["A.Kestrel/Request", "A-Http/Request", "B/Other"].map(lane);
		window.names = [...m.lanesOf({ fromMs: 0, bucketMs: 1 }, lanes, null, () => {}).querySelectorAll(".name")].map(e => e.textContent);
	})`, nil)
	b.until("window.names")
	b.Want("names.join()", "Kestrel Request, requests,Http Request, requests,Other, requests")
	b.Quiet()
}

// TestViewTasks does six tasks by keys alone, in as many as docs/view.md says.
func TestViewTasks(t *testing.T) {
	c := chromium.Start(t)
	const recorded = "../../tests/recorded/"
	for _, task := range []struct {
		name, traces, keys, want string
	}{
		{"slow request", "causes/cause-10.nettrace.gz", "3 Enter", `/\/requests\/.+/.test(location.pathname) && document.querySelectorAll(".falls i").length && /^For [\d.]+ % of its /.test(document.querySelector(".view h2 + p, .view .note + p").textContent)`},
		{"memory", "heapdump.nettrace", "5", `document.querySelectorAll("aside .part").length > 1`},
		{"processor", "causes/cause-10.nettrace.gz", "2 c", `location.pathname.endsWith("/stacks/callers") && document.querySelectorAll(".flameview canvas").length === 2`},
		{"collections", "answers/gc-background-10.nettrace", "4", `[...document.querySelectorAll("aside dt")].some(e => e.textContent === "reason")`},
		{"starvation", "answers/pool-10.nettrace", "ArrowDown Enter", `location.search.includes("from=") && document.querySelector(".view h2")`},
		{"before and after", "threads.nettrace causes/cause-10.nettrace.gz", "0", `location.pathname.endsWith("/compare") && document.querySelector("tr.chosen")`},
	} {
		t.Run(task.name, func(t *testing.T) {
			var traces []string
			for name := range strings.FieldsSeq(task.traces) {
				traces = append(traces, recorded+name)
			}
			b := &viewTab{c.Open(t, startView(t, traces...)+"overview", "light", 1400, 900), t}
			b.until(`document.querySelector(".findings a, .view .note, .view section:first-child p")?.textContent.startsWith("Reading") === false`)
			for key := range strings.FieldsSeq(task.keys) {
				b.Press(key)
				b.until(`!document.querySelector(".view.old") && document.activeElement !== document.body`)
			}
			b.until(task.want)
		})
	}
}
