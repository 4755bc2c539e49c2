package html

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/chromium"
	"github.com/etwgen/etwgen/internal/testio"
)

// bakery is a small call tree.
func bakery() *Flame {
	f := &Flame{Title: "bakery.nettrace", What: "Thread time", Unit: "ms", Facts: []Fact{{"samples", "100"}}, Warnings: []string{"some were lost"}}
	frame := func(name string) int {
		f.Frames = append(f.Frames, Frame{Name: name, Full: "Shop!" + name + "(int32)", Group: "Shop.dll"})
		return len(f.Frames) - 1
	}
	main, bake, knead, sell := frame("Bakery.Program.Main"), frame("Bakery.Oven.Bake"), frame("Bakery.Dough.Knead"), frame("Bakery.Counter.Sell")
	f.Calls = []Call{{-1, main, 10, 10}, {0, bake, 20, 5}, {1, knead, 30, 20}, {0, sell, 15, 40}, {3, knead, 5, 5}, {2, knead, 20, 0}}
	return f
}

// forest is a call tree with n calls.
func forest(n int) *Flame {
	rnd := rand.New(rand.NewPCG(7, 7))
	f := &Flame{Title: "forest", What: "Samples", Unit: "samples"}
	for i := range 500 {
		f.Frames = append(f.Frames, Frame{Name: fmt.Sprintf("Space%d.Type%d.Method%d", i%7, i%31, i), Group: fmt.Sprintf("Module%d.dll", i%9)})
	}
	for i := range n {
		caller := -1
		if i > 0 {
			caller = i - 1 - rnd.IntN(min(i, 30))
		}
		f.Calls = append(f.Calls, Call{Caller: caller, Frame: rnd.IntN(len(f.Frames)), Self: math.Floor(rnd.ExpFloat64() * 10)})
	}
	return f
}

func flamePageOf(t testing.TB, f *Flame) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A decodedFlame is the data that the script reads.
type decodedFlame struct {
	Warnings []string
	Texts    []string
	Flame    struct {
		What, Unit          string
		Names, Full, Groups []int
		Caller, Frame       []int
		Self, Before        []float64
	}
	Top decodedTable
}

func decodedFlameOf(t testing.TB, page string) *decodedFlame {
	t.Helper()
	var m decodedFlame
	testio.JSON(t, []byte(block.FindStringSubmatch(page)[1]), &m)
	return &m
}

func TestFlame(t *testing.T) {
	f := bakery()
	f.Compared = true
	m := decodedFlameOf(t, flamePageOf(t, f))
	if fmt.Sprint(m.Flame.Caller, m.Flame.Frame, m.Flame.Self, m.Flame.Before) != "[-1 0 1 0 3 2] [0 1 2 3 2 2] [10 20 30 15 5 20] [10 5 20 40 5 0]" {
		t.Errorf("%+v", m.Flame)
	}
	rows := map[string][]float64{}
	for i, id := range m.Top.Columns[0].T {
		for _, c := range m.Top.Columns[1:] {
			if c.N != nil {
				rows[m.Texts[id]] = append(rows[m.Texts[id]], *c.N[i])
			}
		}
	}
	// Knead calls itself: its total is that of the two outer calls.
	if got, want := fmt.Sprint(rows["Bakery.Dough.Knead"]), "[55 55 55 55 25 23.75]"; got != want {
		t.Errorf("Knead: %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(rows["Bakery.Program.Main"][:4]), "[10 10 100 100]"; got != want {
		t.Errorf("Main: %s, want %s", got, want)
	}
	f.Compared = false
	if m := decodedFlameOf(t, flamePageOf(t, f)); m.Flame.Before != nil || len(m.Top.Columns) != 6 {
		t.Errorf("not compared: %+v", m.Flame)
	}
}

func TestFlameErrors(t *testing.T) {
	for _, c := range []Call{{Caller: 6}, {Caller: 7}, {Caller: -2}, {Frame: 4}, {Frame: -1}} {
		f := bakery()
		f.Calls = append(f.Calls, c)
		if err := f.Write(&bytes.Buffer{}); err == nil || !strings.HasPrefix(err.Error(), "html: call 6 of 7") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if m := decodedFlameOf(t, flamePageOf(t, &Flame{})); len(m.Flame.Caller) != 0 {
		t.Error("an empty tree has calls")
	}
}

// TestProfiles checks that a report has the call trees of its processes.
func TestProfiles(t *testing.T) {
	r := recordedReport(t, "gc.nettrace")
	pid := r.Result.GC.Runtimes[0].PID
	r.Profiles = []Profile{{PID: pid, Flame: bakery()}, {PID: pid, Flame: bakery()}, {PID: 999, Flame: bakery()}}
	m := decoded(t, pageOf(t, r))
	m.check(t)
	var found []string
	for _, v := range m.Views {
		for _, s := range v.Sections {
			if s.Flame != nil {
				found = append(found, fmt.Sprintf("%v %s %d %s", v.Label == "Process 999", s.ID, len(s.Flame.Caller), s.Tables[0].ID))
			}
		}
	}
	if got, want := strings.Join(found, ", "), "false cpu 6 top, false cpu1 6 top1, true cpu 6 top"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	bad := bakery()
	bad.Calls[0].Caller = 3
	r.Profiles = []Profile{{PID: pid, Flame: bad}}
	if err := r.Write(&bytes.Buffer{}); err == nil {
		t.Error("a tree that is none is written")
	}
}

// TestHeaviest checks that a tree that is too large keeps its sums.
func TestHeaviest(t *testing.T) {
	f := forest(2 * maxCalls)
	for i := range f.Calls {
		f.Calls[i].Before = float64(i % 3)
	}
	f.Compared = true
	page := flamePageOf(t, f)
	m := decodedFlameOf(t, page)
	n := len(m.Flame.Caller)
	if n > maxCalls || n < maxCalls/4 || !strings.Contains(strings.Join(m.Warnings, ""), "the lightest are put together") {
		t.Errorf("%d calls, %v", n, m.Warnings)
	}
	var got, want weight
	for i, caller := range m.Flame.Caller {
		if caller >= i {
			t.Fatalf("call %d comes from %d", i, caller)
		}
		got.now += m.Flame.Self[i]
		got.before += m.Flame.Before[i]
	}
	for _, c := range f.Calls {
		want.now += c.Self
		want.before += c.Before
	}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, w := range totals(f.Calls)[:50] { // the outermost are heavy, and stay as they are
		if w.greater() == 0 {
			t.Error("a call without weight")
		}
	}
}

func flameFile(t *testing.T, f *Flame) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flame.html")
	testio.Write(t, path, flamePageOf(t, f))
	return path
}

func testFlame(t *testing.T, c *chromium.Browser) {
	b := c.Open(t, "file://"+flameFile(t, bakery()), "light", 1000, 800)
	status := `document.querySelector(".flamestatus").textContent`
	b.Drawn()
	b.Want(status, "all100.0 ms, 100 %")

	// By the keyboard: in, to the heaviest, zoomed, and out again.
	b.Eval(`document.querySelector(".flameview").focus()`, nil)
	b.Press("ArrowDown")
	b.Want(status, "Shop!Bakery.Program.Main(int32)  Shop.dll100.0 ms, 100 %; by itself 10.0 ms, 10.0 %")
	b.Press("ArrowDown")
	b.Want(status, "Shop!Bakery.Oven.Bake(int32)  Shop.dll70.0 ms, 70.0 %; by itself 20.0 ms, 20.0 %")
	b.Press("ArrowRight")
	b.Want(status, "Shop!Bakery.Counter.Sell(int32)  Shop.dll20.0 ms, 20.0 %; by itself 15.0 ms, 15.0 %")
	b.Press("Enter")
	b.Want(`document.querySelector(".flamebar > button").disabled`, "false")
	b.Press("Escape")
	b.Press("Escape")
	b.Want(`document.querySelector(".flamebar > button").disabled`, "true")

	// By the mouse: the second row is Main, the third begins with Bake.
	var at []float64
	b.Eval(`(r => [r.left + 50, r.top + 2.5 * 19])(document.querySelector(".flameview").getBoundingClientRect())`, &at)
	b.Click(at[0], at[1])
	b.Want(status+`.startsWith("Shop!Bakery.Oven.Bake")`, "true")
	b.Eval(`document.querySelector(".flamebar > button").click()`, nil)

	testFlameSearch(t, b, status)
	b.Quiet()

	compared := bakery()
	compared.Compared = true
	b = c.Open(t, "file://"+flameFile(t, compared), "dark", 500, 700)
	b.Drawn()
	b.Want(status, "all100.0 ms, 100 %; before 80.0 ms, 100 %")
	b.Want(`document.documentElement.scrollWidth <= innerWidth`, "true")
	b.Eval(`[...document.querySelectorAll(".modes button")].find(e => e.textContent === "Before").click()`, nil)
	b.Drawn()
	b.Quiet()

	b = c.Open(t, "file://"+flameFile(t, forest(50_000)), "light", 1200, 800)
	b.Drawn()
	b.Eval(`document.querySelector(".flameview").scrollTop = 3000`, nil)
	b.Settle()
	b.Drawn()
	b.Quiet()
}

// testFlameSearch searches, and turns the tree around.
func testFlameSearch(t *testing.T, b *chromium.Tab, status string) {
	search := func(text string) {
		b.Eval(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input")); })(document.querySelector(".flamebar input"))`, text), nil)
		b.Settle()
	}
	matched := `document.querySelector(".matched").textContent`
	b.Press("/")
	b.Want(`document.activeElement.type`, "search")
	search("knead")
	b.Want(matched, "55.0 % matched") // what calls itself counts once
	search("/oven|counter/")
	b.Want(matched, "90.0 % matched")
	search("/(/")
	b.Want(matched, "no regular expression")
	search("nobody")
	b.Want(matched, "nothing matched")
	search("")
	b.Want(matched, "")

	mode := func(name string) {
		b.Eval(fmt.Sprintf(`[...document.querySelectorAll(".modes button")].find(e => e.textContent === %q).click()`, name), nil)
		b.Eval(`document.querySelector(".flameview").focus()`, nil)
		b.Settle()
	}
	mode("Callers")
	b.Drawn()
	b.Press("ArrowDown")
	b.Want(status+`.includes("Knead(int32)")`+` && `+status+`.includes("55.0 ms, 55.0 %")`, "true")
	search("oven")
	b.Want(matched, "70.0 % matched") // what it weighs, and what it calls
	search("")
	mode("Flame")
	b.Drawn()
	b.Press("ArrowUp")
	b.Want(status+`.startsWith("Shop!Bakery.Program.Main")`, "true")

	b.Eval(`[...document.querySelectorAll("#table-top tr.data")].find(e => e.textContent.includes("Sell")).click()`, nil)
	b.Settle()
	b.Want(matched, "20.0 % matched")
}

// TestProfilesByWeight: processes with most samples come first, whatever the size of their call trees, and
// of one with few beside them no sentence is said.
func TestProfilesByWeight(t *testing.T) {
	large, most, few := bakery(), bakery(), bakery()
	most.Calls = most.Calls[:1]
	most.Calls[0].Self = 1
	large.Samples, most.Samples, few.Samples, most.Percent = 400, 5000, 5, 90
	m, err := newModel(&Report{Result: emptyResult(), Profiles: []Profile{{PID: 1, Flame: few}, {PID: 2, Flame: large}, {PID: 3, Flame: most}}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := m.Views[0], m.Views[1], m.Views[2]; a.subject.pid != 3 || b.subject.pid != 2 || len(a.Findings) != 1 || len(b.Findings) != 1 || len(c.Findings) > 0 ||
		!strings.Contains(a.Findings[0].Text, "90.0 % of that of all processes") {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
}
