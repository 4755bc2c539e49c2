package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// startView runs etw view, and returns the address that it prints.
func startView(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	from, to := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- runIn(ctx, append([]string{"view", "--no-open"}, args...), strings.NewReader(""), to, &stderr)
		to.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("etw view: %d, %s", c, &stderr)
		}
	})
	address, err := bufio.NewReader(from).ReadString('\n')
	if err != nil {
		t.Fatalf("it prints no address: %v, %s", err, &stderr)
	}
	go io.Copy(io.Discard, from)
	return strings.TrimSpace(address)
}

// get returns the answer of a server.
func get(t *testing.T, address string) (int, []byte, http.Header) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, body, r.Header
}

// viewFlags are flags that questions are asked with: each that a question has.
var viewFlags = []url.Values{
	{}, {"from": {"100ms"}, "to": {"900ms"}}, {"of": {"exceptions"}}, {"group": {"[group modules]"}, "fold": {"^System"}},
	{"format": {"csv"}}, {"min": {"0"}, "inverted": {"true"}}, {"limit": {"50"}, "format": {"jsonl"}}, {"buckets": {"7"}},
}

// TestViewAnswers holds each answer of the server against the output of the command.
func TestViewAnswers(t *testing.T) {
	for _, name := range corpus.Share([]string{"causes/cause-10.nettrace.gz", "lost.nettrace", "answers/gc-datas-10.nettrace"}, 2) {
		testViewAnswers(t, "../../tests/recorded/"+name)
	}
}

// TestViewAnswersCorpus does so with traces of other programs: if all is to be tested, with all
// that are traces, but for large ones, which ETWGEN_FILTER=all adds.
func TestViewAnswersCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks some hundred questions")
	}
	var paths []string
	for _, name := range []string{"dotnet10/cpu.nettrace", "dotnet10/contention.nettrace", "nettrace/filtrace_exceptions.nettrace", "etl/filtrace_etw.etl"} {
		paths = append(paths, corpus.File(t, name))
	}
	if corpus.All() {
		paths = append(paths, corpus.Some(t, corpus.Traces(t))...)
	}
	for _, path := range paths {
		if code, stdout, _ := runTool("info", "--format=json", "--", path); code != 0 && !strings.Contains(stdout, `"rows"`) {
			continue // it cannot be read, and the page says so
		}
		testViewAnswers(t, path)
	}
}

func testViewAnswers(t *testing.T, path string) {
	t.Helper()
	path = testio.Abs(t, path)
	address := startView(t, path)
	status, body, _ := get(t, address+"api/")
	var about struct {
		Questions []struct {
			Name  string
			Flags []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &about); err != nil || status != 200 || len(about.Questions) < 20 {
		t.Fatalf("%d, %v: %s", status, err, body)
	}
	asked := 0
	for _, q := range about.Questions {
		has := map[string]bool{"format": true}
		for _, f := range q.Flags {
			has[f.Name] = true
		}
	flags:
		for _, flags := range viewFlags {
			args := []string{q.Name, "--format=json"}
			for name, values := range flags {
				if !has[name] {
					continue flags
				}
				args = append(args, "--"+name+"="+values[0])
			}
			code, stdout, stderr := runTool(append(args, "--", path)...)
			status, body, header := get(t, address+"api/"+q.Name+"?"+flags.Encode())
			asked++
			switch {
			case len(stdout) > 64<<20:
				if status != 413 || !bytes.Contains(body, []byte("larger than 64 MB")) {
					t.Errorf("%v: %d %s, where the command has %d bytes", args, status, body, len(stdout))
				}
			case stdout == "" && (status != 400 && status != 422 || !bytes.Contains(body, []byte(`"error"`))):
				t.Errorf("%v: %d %s, but the command says %s", args, status, body, stderr)
			case stdout != "" && (status != 200 || string(body) != stdout || header.Get("Etw-Exit") != string(rune('0'+code))):
				t.Errorf("%v: %d, exit code %s, %d bytes; the command has %d, %d bytes", args, status, header.Get("Etw-Exit"), len(body), code, len(stdout))
			}
		}
	}
	if asked < 60 {
		t.Errorf("%d questions were asked", asked)
	}
}

// TestViewRefuses asks as others would who are not to be answered.
func TestViewRefuses(t *testing.T) {
	trace := "../../tests/recorded/gc.nettrace"
	address := startView(t, "--idle", "0", trace, "../../tests/recorded/jit.nettrace")
	at, err := url.Parse(address)
	if err != nil || at.Hostname() != "127.0.0.1" || len(strings.Trim(at.Path, "/")) < 32 {
		t.Fatalf("%s: %v", address, err)
	}
	ask := func(method, address, host string, header ...string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer
	}
	root := "http://" + at.Host + "/"
	for _, x := range []struct {
		name   string
		answer *http.Response
		status int
	}{
		{"the page", ask("GET", address, ""), 200},
		{"a view", ask("GET", address+"stacks/names?of=cpu", ""), 200},
		{"another name of this machine", ask("GET", address, "localhost:"+at.Port()), 200},
		{"another port", ask("GET", address, "127.0.0.1:1"), 403},
		{"a name that leads here", ask("GET", address, "evil.example:"+at.Port()), 403},
		{"another site", ask("GET", address, "", "Sec-Fetch-Site", "cross-site"), 403},
		{"no token", ask("GET", root, ""), 404},
		{"a part of the token", ask("GET", strings.TrimSuffix(address, "/")[:len(address)-2]+"/", ""), 404},
		{"another token", ask("GET", root+strings.Repeat("0", 32)+"/api/", ""), 404},
		{"to change", ask("POST", address+"api/top", ""), 405},
		{"a file beside the page", ask("GET", address+"app/%2e%2e/server.go", ""), 404},
		{"a question that is none", ask("GET", address+"api/collect?p=1", ""), 404},
		{"a command that records", ask("GET", address+"api/record", ""), 404},
		{"a flag that is none", ask("GET", address+"api/top?nonsense=1", ""), 400},
		{"a folder", ask("GET", address+"api/top?symbols=/etc", ""), 400},
		{"an output", ask("GET", address+"api/report?output=x", ""), 400},
		{"a path in place of a number", ask("GET", address+"api/top?diff=/etc/passwd", ""), 400},
		{"a file that is not open", ask("GET", address+"api/top?file=2", ""), 400},
		{"the second file", ask("GET", address+"api/stat?file=1", ""), 200},
		{"a difference", ask("GET", address+"api/top?of=jit&file=1&diff=0", ""), 200},
		{"a comparison with nothing", ask("GET", address+"api/compare?file=1", ""), 400},
		{"a comparison", ask("GET", address+"api/compare?file=1&diff=0", ""), 200},
		{"a cursor that is none", ask("GET", address+"api/events?after=1ms_x", ""), 400},
		{"too many events", ask("GET", address+"api/events?limit=1000000", ""), 400},
		{"a flag of events that is none", ask("GET", address+"api/events?output=x", ""), 400},
		{"a format that is no file", ask("GET", address+"api/export?format=parquet", ""), 400},
		{"an export to a file", ask("GET", address+"api/export?format=folded&output=x", ""), 400},
		{"an export to a server", ask("GET", address+"api/export?format=folded&endpoint=http://x", ""), 400},
		{"a flag in a value", ask("GET", address+"api/stat?event="+url.QueryEscape("--output=x"), ""), 400},
	} {
		if x.answer.StatusCode != x.status {
			t.Errorf("%s: %d, not %d", x.name, x.answer.StatusCode, x.status)
		}
		h := x.answer.Header
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Access-Control-Allow-Origin") != "" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", x.name, h)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a question wrote a file")
	}
}

// TestViewEvents turns the pages of all events: together they are the output of the command,
// whatever their sizes are.
func TestViewEvents(t *testing.T) {
	for _, name := range []string{"gc.nettrace", "service.etl", "threads.nettrace"} {
		path := testio.Abs(t, "../../tests/recorded/"+name)
		testViewEvents(t, path, 97)
	}
}

// TestViewEventsCorpus does so with traces of other programs, of which some have many events
// of one time.
func TestViewEventsCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("it turns some hundred pages")
	}
	for _, name := range []string{"dotnet10/contention.nettrace", "etl/filtrace_etw.etl"} {
		testViewEvents(t, corpus.File(t, name), 5000)
	}
}

func testViewEvents(t *testing.T, path string, limit int) {
	t.Helper()
	address := startView(t, path)
	_, want, _ := runTool("dump", "--format", "jsonl", path)
	var got strings.Builder
	for after, pages := "", 0; ; pages++ {
		status, body, _ := get(t, fmt.Sprintf("%sapi/events?limit=%d&after=%s", address, limit, url.QueryEscape(after)))
		var page struct {
			Rows []json.RawMessage
			Next string
		}
		if err := json.Unmarshal(body, &page); err != nil || status != 200 || len(page.Rows) == 0 || len(page.Rows) > limit || page.Next != "" && len(page.Rows) < limit {
			t.Fatalf("%s: %d, %v, %d rows: %.200s", path, status, err, len(page.Rows), body)
		}
		for _, row := range page.Rows {
			got.Write(append(row, '\n'))
		}
		if after = page.Next; after == "" {
			break
		}
		if pages > strings.Count(want, "\n")/limit {
			t.Fatalf("%s: pages do not end", path)
		}
	}
	if got.String() != want {
		t.Errorf("%s: pages have %d bytes, the command %d", path, got.Len(), len(want))
	}
}

// TestViewLeaps asks for events at some places in a trace that has places to begin at. Its process
// says its name in the first event alone.
func TestViewLeaps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.nettrace")
	f := testio.Create(t, path)
	defer f.Close()
	clock := etw.Clock{Frequency: 1e9, Start: 133e15}
	w, err := nettrace.NewWriter(f, nettrace.Header{Version: 4, PointerSize: etw.Ptr64, Clock: clock, ProcessID: 7})
	if err != nil {
		t.Fatal(err)
	}
	write := func(i int, provider string, id uint16, payload []byte, schema *etw.EventDesc) {
		err := w.Write(&etw.Record{
			Kind: etw.KindManifest, Provider: nettrace.ProviderGUID(provider), ProviderName: provider, ID: id, Version: 1, Level: 4, PointerSize: etw.Ptr64,
			ProcessID: 7, ThreadID: int64(i % 5), Timestamp: int64(i) * 1e5, Clock: &clock, Payload: payload, Schema: schema,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	said := slices.Concat(etw.MakeUTF16("/srv/shop --fast"), []byte{0, 0}, etw.MakeUTF16("Linux"), []byte{0, 0}, etw.MakeUTF16("x64"), []byte{0, 0})
	var fields []etw.FieldDesc
	for _, name := range []string{"CommandLine", "OSInformation", "ArchInformation"} {
		fields = append(fields, etw.FieldDesc{Name: name, Type: etw.InUnicodeString})
	}
	write(0, "Microsoft-DotNETCore-EventPipe", 1, said, &etw.EventDesc{ID: 1, Version: 1, Name: "ProcessInfo", Fields: fields})
	long := clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("Shop.Sold"), ExceptionMessage: etw.MakeUTF16(strings.Repeat("out of bread ", 60))}
	payload := testio.Payload(t, &long, etw.Ptr64)
	const events = 20_000
	for i := range events {
		write(i+1, long.EventDesc().Provider.Name, long.EventDesc().ID, payload, nil)
	}
	testio.Close(t, w)
	if x, err := blocks.NewIndex(path); x == nil || err != nil {
		t.Fatalf("it has no index: %v", err)
	}
	address := startView(t, path)
	for _, ms := range []string{"0", "150.05", "1000", "1800.1", "1999.9", "2000"} {
		_, want, _ := runTool("dump", "--format=jsonl", "--limit=40", "--from="+ms+"ms", path)
		status, body, _ := get(t, address+"api/events?limit=40&after="+ms+"_0")
		var page struct{ Rows []json.RawMessage }
		if err := json.Unmarshal(body, &page); err != nil || status != 200 || len(page.Rows) == 0 {
			t.Fatalf("%s: %d, %v", ms, status, err)
		}
		var got strings.Builder
		for _, row := range page.Rows {
			got.Write(append(row, '\n'))
		}
		if got.String() != want || !strings.Contains(want, `"process":"shop"`) {
			t.Errorf("%s: %.300s, but the command has %.300s", ms, &got, want)
		}
	}
	if status, body, _ := get(t, address+"api/events?after=2500_0"); status != 422 || !bytes.Contains(body, []byte("ExceptionThrown_V1 (20000)")) {
		t.Errorf("behind the end: %d %s", status, body)
	}
}

// TestViewExports holds files for other tools against those of the command.
func TestViewExports(t *testing.T) {
	path := testio.Abs(t, "../../tests/recorded/causes/cause-10.nettrace.gz")
	address := startView(t, path)
	for _, format := range []string{"pprof", "speedscope", "folded"} {
		_, want, _ := runTool("export", "--format", format, "--from", "100ms", "--group", "[group modules]", path)
		status, body, header := get(t, address+"api/export?format="+format+"&from=100ms&group="+url.QueryEscape("[group modules]"))
		if status != 200 || want == "" || string(body) != want || !strings.HasPrefix(header.Get("Content-Disposition"), `attachment; filename="cause-10.nettrace.`) {
			t.Errorf("%s: %d, %d bytes, %v; the command writes %d", format, status, len(body), header, len(want))
		}
	}
	if status, body, _ := get(t, address+"api/export?format=folded&of=heap"); status != 400 || !bytes.Contains(body, []byte(`"error"`)) {
		t.Errorf("%d: %s", status, body)
	}
}

// TestViewCompares holds a comparison against that of the command.
func TestViewCompares(t *testing.T) {
	var paths []string
	for _, name := range []string{"gc.nettrace", "alloc.nettrace"} {
		path := testio.Abs(t, "../../tests/recorded/"+name)
		paths = append(paths, path)
	}
	address := startView(t, paths...)
	_, want, _ := runTool("compare", "--format=json", "--all", paths[0], "--", paths[1])
	if status, body, _ := get(t, address+"api/compare?diff=0&file=1&all=true"); status != 200 || want == "" || string(body) != want {
		t.Errorf("%d, %d bytes; the command prints %d", status, len(body), len(want))
	}
}

// TestViewTogether asks the same and other questions at a time, and goes away from some.
func TestViewTogether(t *testing.T) {
	path := testio.Abs(t, "../../tests/recorded/causes/cause-10.nettrace.gz")
	address := startView(t, path)
	_, want, _ := runTool("top", "--format=json", "--", path)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ask := []string{"api/top", "api/gc", "api/progress", "api/events?limit=5"}[i%4]
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+ask, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if i >= 8 { // whoever it is goes away at once, or a little later
				go cancel()
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				if i < 8 {
					t.Error(err)
				}
				return
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if i < 8 && (err != nil || answer.StatusCode != 200 || ask == "api/top" && string(body) != want) {
				t.Errorf("%s: %v, %d, %d bytes", ask, err, answer.StatusCode, len(body))
			}
		})
	}
	all.Wait()
	if status, body, _ := get(t, address+"api/top"); status != 200 || string(body) != want {
		t.Errorf("afterwards: %d, %d bytes", status, len(body))
	}
	var told struct {
		Done       bool
		Read, Size int64
	}
	if _, body, _ := get(t, address+"api/progress"); json.Unmarshal(body, &told) != nil || !told.Done || told.Read != told.Size || told.Size == 0 {
		t.Errorf("progress: %+v", told)
	}
}

// TestViewParts asks for a part of the page twice, and by both protocols.
func TestViewParts(t *testing.T) {
	address := startView(t, "../../tests/recorded/gc.nettrace")
	_, first, header := get(t, address+"app/app.js")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"app/app.js", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("If-None-Match", header.Get("ETag"))
	again, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	again.Body.Close()
	if len(first) == 0 || again.StatusCode != http.StatusNotModified {
		t.Errorf("%d bytes, then %s", len(first), again.Status)
	}
	newer := strings.Replace(address, "127.0.0.1", "[::1]", 1)
	if answer, err := http.Get(newer); err == nil { // the machine has it
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Errorf("%s: %s", newer, answer.Status)
		}
	}
}

// TestViewEnds has a server that nobody asks.
func TestViewEnds(t *testing.T) {
	for _, x := range []struct {
		code int
		args []string
	}{
		{0, []string{"view", "--no-open", "--idle", "10ms", "../../tests/recorded/gc.nettrace"}},
		{1, []string{"view", "--no-open", "nowhere.nettrace"}}, {1, []string{"view", "--no-open", "../../tests"}},
		{2, []string{"view", "--no-open", "--port", "70000", "../../tests/recorded/gc.nettrace"}}, {2, []string{"view"}},
	} {
		if code, stdout, stderr := runTool(x.args...); code != x.code || code == 0 != strings.HasPrefix(stdout, "http://127.0.0.1:") {
			t.Errorf("%v: %d %s %s", x.args, code, stdout, stderr)
		}
	}
}
