package main

import (
	"encoding/csv"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A weighedLine is the weight of a line, in milliseconds.
type weighedLine struct{ self, total float64 }

// linesOf returns what etw top --by line says of a recording.
func linesOf(t *testing.T, trace, symbols string) map[code.LinePlace]weighedLine {
	t.Helper()
	out, stderr, status := output("top", "--by", "line", "--symbols", symbols, "--format", "csv", trace)
	if status != 0 {
		t.Fatalf("%s: %d, %s", trace, status, stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, name := range rows[0] {
		column[name] = i
	}
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	list := make(map[code.LinePlace]weighedLine)
	for _, row := range rows[1:] {
		list[code.LinePlace{File: row[column["file"]], Line: int(number(row[column["line"]]))}] = weighedLine{number(row[column["selfMs"]]), number(row[column["totalMs"]])}
	}
	return list
}

// sameLines holds lines against those of etw top --by line.
func sameLines(t *testing.T, where string, want, got map[code.LinePlace]weighedLine) {
	t.Helper()
	close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.01 })
	if diff := cmp.Diff(want, got, close, cmp.AllowUnexported(weighedLine{}, code.LinePlace{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", where, diff)
	}
}

// A profile for pprof and the page of a flame graph, as sampled, have the lines of etw top --by line.
func TestLinesElsewhere(t *testing.T) {
	for _, kind := range []string{"separate", "embedded"} {
		recording := corpus.File(t, "lines", kind, "lines.nettrace")
		symbols := filepath.Dir(recording)
		want := linesOf(t, recording, symbols)
		if len(want) < 10 {
			t.Fatalf("%s: only %d lines", kind, len(want))
		}
		dir := t.TempDir()
		file, page := filepath.Join(dir, "lines.pb.gz"), filepath.Join(dir, "lines.html")
		for _, args := range [][]string{{"export", "--as-sampled", "--symbols", symbols, "-o", file, recording}, {"flame", "--as-sampled", "--symbols", symbols, "-o", page, recording}} {
			if _, stderr, status := output(args...); status != 0 {
				t.Fatalf("%v: %d, %s", args, status, stderr)
			}
		}
		sameLines(t, kind+" for pprof", want, pprofLines(t, file))
		sameLines(t, kind+" on the page", want, pageLines(t, page))
	}
}

// pprofLines returns the weights of the lines of a profile for pprof.
func pprofLines(t *testing.T, path string) map[code.LinePlace]weighedLine {
	t.Helper()
	f := testio.File(t, path)
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, fn := range p.Function {
		key := fn.SystemName + " of " + fn.Filename
		if names[key] {
			t.Errorf("%s is there twice", key)
		}
		names[key] = true
	}
	list := make(map[code.LinePlace]weighedLine)
	for _, s := range p.Sample {
		ms := float64(s.Value[len(s.Value)-1]) / 1e6
		met := make(map[code.LinePlace]bool)
		for i, loc := range s.Location {
			if loc.Line[0].Line == 0 {
				continue
			}
			place := code.LinePlace{File: loc.Line[0].Function.Filename, Line: int(loc.Line[0].Line)}
			w := list[place]
			if i == 0 {
				w.self += ms
			}
			if !met[place] {
				w.total += ms
			}
			met[place] = true
			list[place] = w
		}
	}
	return list
}

// pageLines returns the weights of the lines of a page, by its table, and holds the tree
// against it: the parts of a call on lines are not more than the call.
func pageLines(t *testing.T, path string) map[code.LinePlace]weighedLine {
	t.Helper()
	b := testio.Read(t, path)
	found := regexp.MustCompile(`(?s)<script[^>]* id="data"[^>]*>(.*?)</script>`).FindSubmatch(b)
	if found == nil {
		t.Fatal("the page has no data")
	}
	var data struct {
		Texts []string
		Lines struct {
			Columns []struct {
				K string
				N []float64
				T []int
			}
		}
		Flame struct {
			Caller, OnCall, OnLine, Lines []int
			Self, OnTotal                 []float64
		}
	}
	testio.JSON(t, found[1], &data)
	list, texts, numbers := make(map[code.LinePlace]weighedLine), make(map[string][]int), make(map[string][]float64)
	for _, c := range data.Lines.Columns {
		texts[c.K], numbers[c.K] = c.T, c.N
	}
	for i, file := range texts["file"] {
		_, line, _ := strings.Cut(data.Texts[texts["line"][i]], ":")
		n, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		list[code.LinePlace{File: data.Texts[file], Line: n}] = weighedLine{numbers["self"][i], numbers["total"][i]}
	}
	total, onLines := append([]float64{}, data.Flame.Self...), make([]float64, len(data.Flame.Self))
	for i := len(total) - 1; i >= 0; i-- {
		if c := data.Flame.Caller[i]; c >= 0 {
			total[c] += total[i]
		}
	}
	for i, call := range data.Flame.OnCall {
		onLines[call] += data.Flame.OnTotal[i]
	}
	for i := range total {
		if onLines[i] > total[i]+0.01 {
			t.Errorf("call %d weighs %v, and %v on lines", i, total[i], onLines[i])
		}
	}
	return list
}

// ovenFiles writes a trace, and its PDB to a folder; a server has the PDB and the source, and asked
// has the paths that it was asked for.
func ovenFiles(t *testing.T) (trace, folder, server string, asked *[]string) {
	t.Helper()
	dir := t.TempDir()
	trace, folder, asked = filepath.Join(dir, "oven.nettrace"), filepath.Join(dir, "at hand"), new([]string)
	served := map[string][]byte{"/src/srv/Oven.cs": []byte(ovenSource)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		if served[r.URL.Path] == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Write(served[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	const key = "/Shop.pdb/07070707070707070707070707070707FFFFFFFF/Shop.pdb"
	served[key] = ovenPDB(`{"documents":{"/*":"` + s.URL + `/src/*"}}`)
	oven, err := (&bakery{lines: true}).write()
	if err := errors.Join(err, os.Mkdir(folder, 0o755), os.WriteFile(trace, oven, 0o644), os.WriteFile(filepath.Join(folder, "Shop.pdb"), ovenPDB(""), 0o644)); err != nil {
		t.Fatal(err)
	}
	return trace, folder, s.URL, asked
}

// TestViewSources: a page has lines and sources of servers if whoever started it named them, and
// asks nobody else, whatever the page asks for.
func TestViewSources(t *testing.T) {
	trace, folder, server, asked := ovenFiles(t)
	path := "srv*" + t.TempDir() + "*" + server + ";source*" + t.TempDir() + "*" + server + "/src"
	want, stderr, _ := output("top", "--source", "srv/Oven.cs", "--format", "json", "--symbol-path", path, trace)
	if len(*asked) != 2 || !strings.Contains(want, "Bake") {
		t.Fatalf("asked for %q: %s%s", *asked, want, stderr)
	}
	const question = "api/top?by=line&source=srv/Oven.cs"
	for name, x := range map[string]struct {
		args     []string
		variable string
		want     string
		asked    int
	}{
		"nothing":      {},
		"a flag":       {args: []string{"--symbol-path", "srv*" + t.TempDir() + "*" + server + ";source*" + t.TempDir() + "*" + server + "/src"}, want: want, asked: 2},
		"a variable":   {variable: "srv*" + t.TempDir() + "*" + server + ";source*" + t.TempDir() + "*" + server + "/src", want: want, asked: 2},
		"no source":    {args: []string{"--symbol-path", "srv*" + t.TempDir() + "*" + server}, asked: 1},
		"a folder":     {args: []string{"--symbols", folder}, want: want},
		"--no-symbols": {args: []string{"--no-symbols"}, variable: path},
	} {
		t.Setenv("ETW_SYMBOL_PATH", x.variable)
		*asked = nil
		address := startView(t, append(x.args, trace)...)
		t.Setenv("ETW_SYMBOL_PATH", path) // which is not the choice of who started it
		status, body, _ := get(t, address+question)
		if len(*asked) != x.asked || x.want != "" && string(body) != x.want || x.want == "" && status != 422 {
			t.Errorf("%s: asked for %q, %d: %s", name, *asked, status, body)
		}
		for _, more := range []string{"&symbol-path=" + url.QueryEscape(path), "&symbols=" + url.QueryEscape(folder)} {
			if status, body, _ := get(t, address+question+more); status != 400 || len(*asked) != x.asked {
				t.Errorf("%s%s: %d: %s", name, more, status, body)
			}
		}
	}
	// A file at hand is not opened, though it ends as the one that is asked for.
	own := filepath.Join(t.TempDir(), "Oven.cs")
	testio.Write(t, own, []byte("secret"))
	if _, body, _ := get(t, startView(t, "--symbols", folder, trace)+"api/top?source="+url.QueryEscape(own)); strings.Contains(string(body), "secret") {
		t.Errorf("%s", body)
	}
	if _, _, status := output("view", "--no-open", "--idle", "1ms", "--symbol-path", "http://example.com", trace); status == 0 {
		t.Error("a server without https is taken")
	}
}

// TestLinesByNetwork has the PDB and the source on a server: lines and text are those of
// files at hand, and which PDB it is can be seen before.
func TestLinesByNetwork(t *testing.T) {
	trace, folder, server, asked := ovenFiles(t)
	store := t.TempDir()
	path := "srv*" + store + "*" + server
	withSource := path + ";source*" + store + "*" + server + "/src"
	const pdb, source = "Shop.pdb", "/src/srv/Oven.cs"
	for _, x := range []struct {
		args []string
		want []string // of the server
		same []string
	}{
		{args: []string{"symbols", "--fetch", "--lines", "--dry-run", "--symbol-path", path}},
		{args: []string{"top", "--source", "srv/Oven.cs", "--symbol-path", path}, want: []string{pdb}},
		{args: []string{"top", "--by", "line", "--symbol-path", path}, same: []string{"top", "--by", "line", "--symbols", folder}},
		{args: []string{"symbols", "--fetch", "--lines", "--symbol-path", path}},
		{args: []string{"top", "--source", "srv/Oven.cs", "--symbol-path", withSource}, want: []string{source}, same: []string{"top", "--source", "srv/Oven.cs", "--symbols", folder}},
		{args: []string{"top", "--source", "srv/Oven.cs", "--symbol-path", withSource}, same: []string{"top", "--source", "srv/Oven.cs", "--symbols", folder}},
	} {
		*asked = nil
		got, stderr, status := output(append(x.args, trace)...)
		if len(x.same) > 0 {
			if want, _, _ := output(append(x.same, trace)...); got != want || status != 0 {
				t.Errorf("%q: %d, %s\n%s\nwant\n%s", x.args, status, stderr, got, want)
			}
		}
		for i, at := range *asked {
			if i >= len(x.want) || !strings.HasSuffix(at, x.want[i]) {
				t.Errorf("%q: asked for %q, not %q", x.args, *asked, x.want)
				break
			}
		}
		if len(*asked) < len(x.want) {
			t.Errorf("%q: asked for %q, not %q", x.args, *asked, x.want)
		}
		t.Logf("%q: %d\n%s%s", x.args, status, got, stderr)
	}
}
