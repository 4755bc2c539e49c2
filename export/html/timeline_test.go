package html

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/timeline"
	"github.com/etwgen/etwgen/internal/chromium"
)

// aTimeline is a second in 100 buckets of a process, in the middle of which it was paused.
func aTimeline(pid int64) *timeline.Result {
	lane := func(kind timeline.Kind, how timeline.How, of, unit string, value func(i int) measure.Float) *timeline.Lane {
		l := &timeline.Lane{Kind: kind, PID: pid, How: how, Of: of, Unit: unit}
		sum := 0.0
		for i := range 100 {
			v := value(i)
			sum += v.Or(0)
			l.Values = append(l.Values, v)
			if l.Highest.IsZero() || v.Or(0) > l.Highest.Or(0) {
				l.Highest = v
			}
		}
		if how == timeline.Sum {
			l.Total = measure.Known(sum)
		}
		return l
	}
	return &timeline.Result{ToMS: 1000, BucketMS: 10, Lanes: []*timeline.Lane{
		lane(timeline.GCPause, timeline.Sum, "", "ms", func(i int) measure.Float { return measure.Known(float64(i / 50 * 5 * (1 - i/60))) }),
		lane(timeline.Heap, timeline.Highest, "", "MB", func(i int) measure.Float {
			if i < 20 {
				return measure.Float{}
			}
			return measure.Known(float64(i))
		}),
		lane(timeline.Requests, timeline.Sum, "Host/<b>Request", "count", func(i int) measure.Float { return measure.Known(1) }),
		lane(timeline.Counter, timeline.Mean, "Shop/oven", "°C", func(i int) measure.Float { return measure.Known(-float64(i)) }),
	}}
}

// withTimeline is a report with a timeline and a call tree: Bake has the first half of the
// second, Sell the other one.
func withTimeline() *Report {
	res := emptyResult()
	res.GC.Runtimes = []*gc.Runtime{manyGCs(1, 200)}
	res.Timeline = aTimeline(1)
	tree := bakery()
	tree.What = "Thread time"
	tree.Times = &Times{BucketMS: 100}
	for i, c := range tree.Calls {
		if c.Self != 0 {
			tree.Times.Parts = append(tree.Times.Parts, Part{Bucket: i, Call: i, Self: c.Self})
		}
	}
	return &Report{Title: "timeline", Result: res, Profiles: []Profile{{PID: 1, Flame: tree}}}
}

func TestTracks(t *testing.T) {
	m, err := newModel(withTimeline())
	if err != nil {
		t.Fatal(err)
	}
	sec := m.Views[0].Sections[0]
	if sec.Tracks == nil || sec.Tracks.Width != 0.01 || len(sec.Tracks.Lanes) != 4 {
		t.Fatalf("%+v", sec)
	}
	var labels []string
	for _, l := range sec.Tracks.Lanes {
		labels = append(labels, l.Label+": "+l.Total)
	}
	want := []string{"Pauses for collections: 50.0\u00a0ms", "Heap: up to 99 MB", "<b>Request: 100 ended", "oven: up to 0 °C"}
	if !slices.Equal(labels, want) {
		t.Errorf("want %q, got %q", want, labels)
	}
	m.Views[0].subject.timeline.Lanes = nil
	many := withTimeline()
	for range 100 {
		many.Result.Timeline.Lanes = append(many.Result.Timeline.Lanes, many.Result.Timeline.Lanes[3])
	}
	if m, err = newModel(many); err != nil || len(m.Views[0].Sections[0].Tracks.Lanes) != 3+maxAlike || len(m.Views[0].Sections[0].Lead) != 1 {
		t.Errorf("%v, %+v", err, m.Views[0].Sections[0])
	}
	other := withTimeline()
	for _, l := range other.Result.Timeline.Lanes {
		l.PID = 77 // of which the page has nothing
	}
	if m, err = newModel(other); err != nil || m.Views[0].Sections[0].Tracks != nil {
		t.Errorf("%v, %+v", err, m.Views[0].Sections[0])
	}
}

// withCauses is a report with requests of which the trace tells where their time went.
func withCauses() *Report {
	r := withTimeline()
	causes := func(running, awaiting float64) *requests.Causes {
		return &requests.Causes{RunningMS: running, AwaitingMS: awaiting, LateMS: 1}
	}
	task := requests.Task{Provider: "Microsoft.AspNetCore.Hosting", Task: "Request", Count: 2, Endpoints: []requests.Endpoint{
		{Endpoint: "GET /bread", Count: 1, DurationMS: measure.Summarize([]float64{40}), Causes: causes(10, 30)},
		{Endpoint: "GET /cake", Count: 1, DurationMS: measure.Summarize([]float64{8}), Causes: causes(8, 0)},
	}}
	r.Result.Requests.Processes = []*requests.Process{{PID: 1, Started: 2, Stopped: 2, CausesFrom: "flow", Tasks: []requests.Task{task}}}
	for _, of := range []string{"Microsoft.AspNetCore.Hosting/Request: awaiting", "System.Net.Http/Request: awaiting"} {
		l := *r.Result.Timeline.Lanes[0]
		l.Kind, l.Of = timeline.Causes, of
		r.Result.Timeline.Lanes = append(r.Result.Timeline.Lanes, &l)
	}
	return r
}

// A page has the causes of the requests that people mean, and nothing is said to be left out.
func TestCauses(t *testing.T) {
	m, err := newModel(withCauses())
	if err != nil {
		t.Fatal(err)
	}
	sec := m.Views[0].Sections[0]
	if n := len(sec.Tracks.Lanes); n != 5 || sec.Lead != nil {
		t.Fatalf("%d lanes, %q", n, sec.Lead)
	}
	if l := sec.Tracks.Lanes[4]; l.Label != "Request: awaiting" || l.Color != "await" {
		t.Errorf("%+v", l)
	}
}

// testCauses looks at the bars of requests.
func testCauses(t *testing.T, c *chromium.Browser) {
	for _, theme := range []string{"light", "dark"} {
		b := c.Open(t, "file://"+written(t, withCauses()), theme, 1200, 900)
		b.Drawn()
		bars := `[...document.querySelectorAll("#table-requests-endpoint tr.data .stack")]`
		b.Want(bars+`.map(e => e.title).join("; ")`, "Running 10.000 ms, Awaiting 30.000 ms; Running 8.000 ms")
		b.Want(bars+`.map(e => Math.round(100 * e.children[0].getBoundingClientRect().width / e.getBoundingClientRect().width)).join()`, "25,100")
		b.Want(`document.querySelector("#table-requests-endpoint .keys").textContent`, "RunningAwaiting")
		b.Want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		b.Eval(`document.querySelector("#table-requests-endpoint tr.data").click()`, nil)
		b.Want(`document.querySelector("#table-requests-endpoint tr.more").textContent.includes("Awaiting30.000 ms")`, "true")
		b.Want(`document.querySelector("#table-requests-endpoint tr.more td").colSpan === document.querySelectorAll("#table-requests-endpoint thead th").length`, "true")
		b.Quiet()
	}
}

// testTimeline chooses a part of the time, and looks whether the rest of the page follows.
func testTimeline(t *testing.T, c *chromium.Browser) {
	for _, look := range []struct {
		theme string
		width int
	}{{"light", 1200}, {"dark", 500}} {
		b := c.Open(t, "file://"+written(t, withTimeline()), look.theme, look.width, 900)
		b.Drawn()
		b.Want(`[...document.querySelectorAll(".lanelabel .name")].map(e => e.textContent).join()`, "Pauses for collections,Heap,<b>Request,oven")
		b.Want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		for _, selector := range []string{".lanelabel span", ".tracks .under", ".tracks button"} {
			if least := b.Contrast(selector); least < 4.5 {
				t.Errorf("%s: the contrast of %s is %.1f", look.theme, selector, least)
			}
		}
		b.Quiet()
	}
	b := c.Open(t, "file://"+written(t, withTimeline()), "light", 1200, 1000)
	status, zoom := `document.querySelector(".flamestatus").textContent`, `document.querySelector(".zoom").textContent`
	b.Want(status, "all100.0 ms, 100 %")
	place := func(share float64) (x, y float64) {
		var at []float64
		b.Eval(`(() => { const e = document.querySelector(".lanes"); e.scrollIntoView({block: "center", behavior: "instant"}); const r = e.getBoundingClientRect(); return [r.left, r.width, r.top + 40]; })()`, &at)
		return at[0] + share*at[1], at[2]
	}
	from, y := place(0.25)
	to, _ := place(0.75)
	b.Drag(from, y, to, y)
	b.Want(`/^0\.2[45]\d s to 0\.7[45]\d s/.test(`+zoom+`)`, "true")
	b.Want(`document.querySelector("#table-gc-collection .chip").textContent.startsWith("only 0.2")`, "true")
	b.Want(`document.querySelector("#table-gc-generation .chip").textContent`, "of the whole time")
	b.Want(`/^all\d/.test(`+status+`) && !`+status+`.startsWith("all100.0")`, "true")
	b.Want(`document.querySelector("#table-top .chip").textContent.startsWith("only 0.2")`, "true")

	// The buttons and the keys.
	b.Eval(`document.querySelector(".lanebox").focus()`, nil)
	for _, step := range []struct{ key, want string }{
		{"+", `/^0\.3[67]\d s to 0\.6[23]\d s/`}, {"-", `/^0\.2[45]\d s to 0\.7[45]\d s/`}, {"ArrowRight", `/^0\.37\d s to 0\.87\d s/`}, {"ArrowLeft", `/^0\.2[45]\d s to 0\.7[45]\d s/`},
	} {
		b.Press(step.key)
		b.Want(step.want+`.test(`+zoom+`) || `+zoom, "true")
	}
	b.Press("Escape")
	b.Want(`document.querySelector(".zoom").classList.contains("hidden")`, "true")
	b.Want(status, "all100.0 ms, 100 %")
	b.Want(`document.querySelector("#table-gc-generation .chip").classList.contains("hidden")`, "true")
	for range 2 {
		b.Eval(`document.querySelector('.tracks button[title="zoom in"]').click()`, nil)
	}
	b.Want(`/^0\.375 s to 0\.625 s/.test(`+zoom+`) || `+zoom, "true")
	b.Drawn()
	b.Quiet()
}
