package look

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// Two of Microsoft's pages have commands of sessions. Here they are as those pages print them,
// each with the errata of docs/clr/errata.md that are in it.

// A said is a command of a page, with what is wrong in it.
type said struct {
	command string
	errata  []erratum
}

// An erratum is a part of a command, by its title in docs/clr/errata.md, and what is right.
type erratum struct{ title, wrong, right string }

var (
	dashes    = erratum{"Dashes.", "–", "-"}
	oneName   = erratum{"One name for two sessions.", "-start clr", "-start clrRundown"}
	stopAll   = erratum{"Stopping.", "xperf -stop", "xperf -stop clrRundown\nxperf -stop clr"}
	oneLine   = erratum{"Stopping.", "clrRundown xperf", "clrRundown\nxperf"}
	deleting  = erratum{"Merging.", "-merge -d", "-merge"}
	noRundown = erratum{"The rundown example 0xB8", ":0xB8:", ":0x138:"}
)

const (
	runtimeGUID = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
	rundownGUID = "A669021C-C450-4609-A035-5AF59AF4DF18"
)

// sessions are the commands of the pages that follow each other, and the preset of what the
// first one enables.
var sessions = []struct {
	page, preset string
	commands     []said
}{
	{"providers", "documented", []said{
		{"xperf -start clr -on " + runtimeGUID + ":0x1CCBD:0x5 -f clr1.etl", nil},
		{"xperf -start clrRundown -on " + rundownGUID + ":0xB8:0x5 -f clr2.etl", []erratum{noRundown}},
		{"xperf -stop clrRundown xperf -stop clr", []erratum{oneLine}},
		{"xperf -merge clr1.etl clr2.etl merged.etl", nil},
	}},
	{"overview", "without-enumeration", []said{
		{"xperf –start clr –on " + runtimeGUID + ":0x1FC1F:0x5 –f clr1.etl", []erratum{dashes}},
		{"xperf –start clr –on " + rundownGUID + ":0x138:0x5 –f clr2.etl", []erratum{dashes, oneName}},
		{"xperf -stop", []erratum{stopAll}},
		{"xperf -merge -d clr1.etl clr2.etl merged.etl", []erratum{deleting}},
	}},
}

// single are the commands of the pages that enable one mask.
var single = []said{
	{"xperf –start clr –on " + runtimeGUID + ":0xFFFFFFFF:0x5 –f clr.etl", []erratum{dashes}},
	{"xperf –start clr –on " + runtimeGUID + ":0x1FC1F:0x5 –f clr.etl", []erratum{dashes}},
}

// mended returns a command without its errata, and with hexadecimal digits as we write them.
func (s said) mended(t *testing.T) string {
	t.Helper()
	command := s.command
	for _, e := range s.errata {
		if !strings.Contains(command, e.wrong) {
			t.Errorf("%s has no erratum %q", s.command, e.wrong)
		}
		command = strings.ReplaceAll(command, e.wrong, e.right)
	}
	words := strings.Split(command, " ")
	for i := 1; i < len(words); i++ {
		if words[i-1] == "-on" {
			words[i] = strings.ToLower(words[i])
		}
	}
	return strings.Join(words, " ")
}

// keywords returns what the command prints.
func keywords(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := NewKeywords()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	if err := cmd.Execute(); err != nil {
		t.Fatalf("keywords %v: %v: %s", args, err, &errs)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// TestSessions: what the tool prints for xperf are the commands of both pages, but for their
// errata, and what it prints for other tools enables the same.
func TestSessions(t *testing.T) {
	recipe := keywords(t, "--for", "xperf")
	documented := keywords(t, "--for", "xperf", "--preset", "documented")
	for _, s := range sessions {
		var want, got []string
		for _, c := range s.commands {
			want = append(want, strings.Split(c.mended(t), "\n")...)
		}
		enables := keywords(t, "--for", "xperf", "--preset", s.preset)
		for line := range strings.Lines(recipe) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "xperf ") {
				got = append(got, strings.Replace(line, documented, enables, 1))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nnot\n%s", s.page, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, c := range s.commands[:2] {
			sameForAll(t, c.mended(t))
		}
	}
	for _, c := range single {
		sameForAll(t, c.mended(t))
	}
}

// sameForAll checks that what is printed for each tool enables what a command of xperf does.
func sameForAll(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	on := strings.Join(words[slices.Index(words, "-on"):][:2], " ")
	want, err := parsers["xperf"](on)
	if err != nil {
		t.Fatal(err)
	}
	mask := strings.Split(on, ":")[1]
	for _, tool := range recorderNames {
		text := keywords(t, "--for", tool, "--provider", want.provider, "--level", "verbose", mask)
		got, err := parsers[tool](text)
		if err != nil || got.mask != want.mask || got.level != want.level {
			t.Errorf("%s: %s enables %+v, not %+v (%v)", tool, text, got, want, err)
		}
		if tool == "xperf" && text != on {
			t.Errorf("%s, not %s", text, on)
		}
	}
}

// TestSessionsOfPages: the pages have these commands, and our errata have their errata.
func TestSessionsOfPages(t *testing.T) {
	errata := testio.Read(t, "../../../../docs/clr/errata.md")
	all := slices.Clone(single)
	for _, s := range sessions {
		all = append(all, s.commands...)
	}
	for _, c := range all {
		for _, e := range c.errata {
			if !bytes.Contains(errata, []byte(". **"+e.title)) {
				t.Errorf("docs/clr/errata.md has no entry %q", e.title)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t), "..", "seeds", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Skip("there are no pages beside the corpus")
	}
	var pages []byte
	for _, file := range files {
		text := testio.Read(t, file)
		pages = append(pages, text...)
	}
	for _, c := range all {
		if !bytes.Contains(pages, []byte(c.command)) {
			t.Errorf("no page has %s", c.command)
		}
	}
	if n := bytes.Count(pages, []byte("xperf -")) + bytes.Count(pages, []byte("xperf –")); n != len(all)+1 { // one line has two
		t.Errorf("the pages have %d commands, and here are %d", n, len(all)+1)
	}
}
