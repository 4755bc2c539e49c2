// Package chromium drives a headless browser in tests of pages.
package chromium

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Browser is a headless browser, driven through its pipe of the DevTools
// protocol: messages of JSON that end in a zero byte.
type Browser struct {
	to      *os.File
	mu      sync.Mutex
	last    int
	replies map[int]chan reply
	tabs    map[string]*Tab // by session
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// patience is how long the browser may take for anything. It is no measure of
// speed: the machine may be busy.
const patience = 2 * time.Minute

// Start starts the browser, or skips the test where there is none.
func Start(t *testing.T) *Browser {
	t.Helper()
	if testing.Short() || strconv.IntSize == 32 || runtime.GOOS == "windows" {
		t.Skip("pages are tested in a browser by the long tests, in 64 bits")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("THERE IS NO CHROMIUM: pages are not tested in a browser")
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	back, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers} // 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	answers.Close()
	c := &Browser{to: ours, replies: make(map[int]chan reply), tabs: make(map[string]*Tab)}
	done := make(chan struct{})
	go func() { c.read(back); close(done) }()
	t.Cleanup(func() {
		ours.Close() // the browser ends with its pipe
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
	})
	return c
}

func (c *Browser) read(from *os.File) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			reply
			ID        int
			Method    string
			Params    json.RawMessage
			SessionID string
		}
		if json.Unmarshal(bytes.TrimSuffix(b, []byte{0}), &m) != nil {
			continue
		}
		c.mu.Lock()
		waiting, tab := c.replies[m.ID], c.tabs[m.SessionID]
		delete(c.replies, m.ID)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- m.reply
		} else if tab != nil {
			tab.event(m.Method, m.Params)
		}
	}
}

// call calls a method and decodes its result into v, if that is not nil.
func (c *Browser) call(t *testing.T, session, method string, params, v any) {
	t.Helper()
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.replies[id] = ch
	c.mu.Unlock()
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if session != "" {
		m["sessionId"] = session
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.to.Write(append(b, 0)); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-ch:
		if r.Error != nil {
			t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if v != nil {
			if err := json.Unmarshal(r.Result, v); err != nil {
				t.Fatal(err)
			}
		}
	case <-time.After(patience):
		t.Fatalf("%s: the browser does not answer", method)
	}
}

// A Tab is one page in the browser.
type Tab struct {
	t       *testing.T
	c       *Browser
	session string
	own     string // that addresses of the page itself begin with
	loaded  chan struct{}
	mu      sync.Mutex
	wrong   []string // what the console says
}

func (b *Tab) event(method string, params json.RawMessage) {
	switch method {
	case "Page.loadEventFired":
		b.loaded <- struct{}{}
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Network.requestWillBeSent":
		var asked struct{ Request struct{ URL string } }
		if json.Unmarshal(params, &asked) == nil && strings.HasPrefix(asked.Request.URL, b.own) && asked.Request.URL != "" || bytes.Contains(params, []byte("willReadFrequently")) {
			return // the page itself, and what Drawn does
		}
		b.mu.Lock()
		b.wrong = append(b.wrong, method+" "+string(params))
		b.mu.Unlock()
	}
}

// Open shows an address in a new tab of some size, in light or dark colours.
func (c *Browser) Open(t *testing.T, address, theme string, width, height int) *Tab {
	t.Helper()
	var target struct{ TargetID string }
	c.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	c.call(t, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b := &Tab{t: t, c: c, session: attached.SessionID, own: ownOf(address), loaded: make(chan struct{}, 8)}
	c.mu.Lock()
	c.tabs[b.session] = b
	c.mu.Unlock()
	t.Cleanup(func() { c.call(t, "", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil) })
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", nil, nil)
	}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": theme}}}, nil)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Call("Page.navigate", map[string]any{"url": address}, nil)
	select {
	case <-b.loaded:
	case <-time.After(patience):
		t.Fatal("the page does not load")
	}
	b.Settle()
	return b
}

// ownOf returns the begin of all addresses of a page: of a server its own, or that of files.
func ownOf(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + "/"
}

// Call calls a method of the protocol for the tab, and sets v to its result.
func (b *Tab) Call(method string, params, v any) {
	b.t.Helper()
	b.c.call(b.t, b.session, method, params, v)
}

// Settle waits until the page has drawn all.
func (b *Tab) Settle() {
	b.t.Helper()
	b.Eval(`new Promise(r => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => r(1)), 120)))`, nil)
}

// Eval decodes the value of an expression of JavaScript into v. An expression of
// an element is true.
func (b *Tab) Eval(expr string, v any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expr, "awaitPromise": true, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s %s", expr, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, v); err != nil {
		b.t.Fatalf("%s is %s: %v", expr, r.Result.Value, err)
	}
}

// Text returns the value of an expression as text.
func (b *Tab) Text(expr string) string {
	b.t.Helper()
	var s string
	b.Eval("String("+expr+")", &s)
	return s
}

// Want fails the test unless an expression has a value, as text.
func (b *Tab) Want(expr, want string) {
	b.t.Helper()
	if got := b.Text(expr); got != want {
		b.t.Errorf("%s is %q, not %q", expr, got, want)
	}
}

// Click clicks the mouse at a place in the window.
func (b *Tab) Click(x, y float64) {
	b.t.Helper()
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
	b.Settle()
}

// Drag drags the mouse from one place to another.
func (b *Tab) Drag(x0, y0, x1, y1 float64) {
	b.t.Helper()
	for _, e := range []struct {
		kind    string
		x, y    float64
		buttons int
	}{{"mouseMoved", x0, y0, 0}, {"mousePressed", x0, y0, 1}, {"mouseMoved", (x0 + x1) / 2, y0, 1}, {"mouseMoved", x1, y1, 1}, {"mouseReleased", x1, y1, 0}} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": e.kind, "x": e.x, "y": e.y, "button": "left", "buttons": e.buttons, "clickCount": 1}, nil)
	}
	b.Settle()
}

// Press presses a key.
func (b *Tab) Press(key string) {
	b.t.Helper()
	p := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		p["text"] = key
	}
	if code, ok := map[string]int{"Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Backspace": 8}[key]; ok {
		p["windowsVirtualKeyCode"] = code
	}
	b.Call("Input.dispatchKeyEvent", p, nil)
	p["type"] = "keyUp"
	delete(p, "text")
	b.Call("Input.dispatchKeyEvent", p, nil)
	b.Settle()
}

// Quiet fails the test if the console has said anything, or the page has asked for
// anything from elsewhere.
func (b *Tab) Quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.wrong {
		b.t.Errorf("the page says %s", w)
	}
}

// Drawn fails the test if a canvas is blank, and returns how many there are.
func (b *Tab) Drawn() int {
	b.t.Helper()
	var inks []struct {
		Name string
		Ink  int
	}
	b.Eval(`[...document.querySelectorAll("canvas")].map(c => {
		const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, colors = new Set();
		for (let i = 3; i < d.length; i += 4) if (d[i] > 128) colors.add(d[i-3] << 16 | d[i-2] << 8 | d[i-1]);
		return { Name: (c.closest("figure") || document.body).id, Ink: colors.size };
	})`, &inks)
	for _, c := range inks {
		if c.Ink < 3 {
			b.t.Errorf("the chart %s has %d colours", c.Name, c.Ink)
		}
	}
	return len(inks)
}

// Center returns the place of the middle of an element in the window.
func (b *Tab) Center(selector string) (x, y float64) {
	b.t.Helper()
	var at []float64
	b.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%s); e.scrollIntoView({block: "center", behavior: "instant"}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`, strconv.Quote(selector)), &at)
	return at[0], at[1]
}

// Contrast is the least contrast of text with its background, in the elements that a
// selector has.
func (b *Tab) Contrast(selector string) float64 {
	b.t.Helper()
	var least float64
	b.Eval(strings.ReplaceAll(`Math.min(...[...document.querySelectorAll(SEL)].map(e => {
		const rgb = s => s.match(/[\d.]+/g).map((v, i) => Number(v) * (s.startsWith("color") && i < 3 ? 255 : 1));
		const lum = c => { const f = c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
		let back = e, bg;
		do { bg = rgb(getComputedStyle(back).backgroundColor); back = back.parentElement; } while (back && bg.length === 4 && bg[3] === 0);
		const a = lum(rgb(getComputedStyle(e).color)), c = lum(bg);
		return (Math.max(a, c) + 0.05) / (Math.min(a, c) + 0.05);
	}))`, "SEL", strconv.Quote(selector)), &least)
	return least
}
