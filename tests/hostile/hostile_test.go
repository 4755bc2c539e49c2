package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/gen"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/tests/hostile/mutate"
)

// TestShort is a short form of the program's long runs.
func TestShort(t *testing.T) {
	for name, args := range map[string][]string{
		"traces":    {"-kind", "traces", "-n", "6000", "-max", "20000"},
		"sweep":     {"-kind", "traces", "-n", "0", "-max", "1100", "-sweep", strconv.Itoa(300 / corpus.Every(3))},
		"manifests": {"-kind", "manifests", "-n", "150"},
		"payloads":  {"-kind", "payloads", "-n", "600"},
		"versions":  {"-kind", "versions", "-n", "600"},
		"decoders":  {"-kind", "decoders", "-n", "200000"},
		"forms":     {"-kind", "forms", "-n", "300", "-max", "20000"},
		"code":      {"-kind", "code", "-n", "100", "-max", "300000"},
	} {
		t.Run(name, func(t *testing.T) {
			if !corpus.All() && (name == "payloads" || name == "versions" || name == "forms") {
				t.Skip("it builds packages: ETWGEN_TESTS=all does")
			}
			var out bytes.Buffer
			if err := run(args, &out); err != nil {
				t.Errorf("%v\n%s", err, out.Bytes())
			}
			t.Logf("%s", out.Bytes())
		})
	}
}

// TestAll checks that all kinds run with one seed, and are summed up at the end.
func TestAll(t *testing.T) {
	if testing.Short() || !corpus.All() {
		t.Skip("it builds packages: ETWGEN_TESTS=all does")
	}
	var out bytes.Buffer
	const apart = "receivers" // a module of its own has them, with hundreds below it
	if err := run([]string{"-kind", "all", "-without", apart, "-n", "2", "-seed", "9"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool { return name == apart })
	for i, line := range lines[max(len(lines)-len(names), 0):] {
		if name := names[i]; !strings.HasPrefix(line, name+": ") || !strings.Contains(line, "seed 9") {
			t.Errorf("of %s it says %q", name, line)
		}
	}
}

// TestUsage checks that senseless flags are refused.
func TestUsage(t *testing.T) {
	if err := run([]string{"-kind", "poems"}, io.Discard); err == nil || !strings.Contains(err.Error(), "poems") {
		t.Errorf("a kind that there is not: %v", err)
	}
}

// TestCampaign checks that a panic and a broken promise are found, and counted.
func TestCampaign(t *testing.T) {
	var out bytes.Buffer
	c := newCampaign("test", 1, 3, &out)
	c.begin("first", nil)
	c.guard(func() { panic("oops") })
	for range 20 {
		c.find("promise", "%d is wrong", 5)
	}
	c.report()
	for _, want := range []string{"FOUND panic: 1 times\n\tfirst: oops", "FOUND promise: 20 times\n\tfirst: 5 is wrong"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	if c.over() {
		t.Error("over after one of three executions")
	}
}

// TestMeter checks that a reader which goes over its input again and again is
// told from one that does not.
func TestMeter(t *testing.T) {
	in := &meter{Reader: bytes.NewReader(make([]byte, 100)), left: 1000}
	var p [100]byte
	for range 8 {
		if _, err := in.ReadAt(p[:], 0); err != nil || in.exceeded() != nil {
			t.Fatal("too early:", err)
		}
	}
	in.ReadAt(p[:], 0)
	if _, err := in.ReadAt(p[:], 0); !errors.Is(err, errTooMuch) || in.exceeded() == nil {
		t.Errorf("after 1,000 bytes of 100: %v", err)
	}
}

// TestAccount checks that a loss which is not reported is found, and that kept records are
// measured.
func TestAccount(t *testing.T) {
	var out bytes.Buffer
	c := newCampaign("test", 1, 1, &out)
	files, err := mutate.Made()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTraces(c, files[5:6], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := tr.subjects[0]
	cut := *mutate.Named(mutate.Truncation)
	mutant := s.Cut(len(s.Data)/2, nil)
	tr.run(s, cut, mutant, false)
	if len(c.findings) > 0 {
		c.report()
		t.Errorf("a file that is cut off: %s", out.Bytes())
	}
	kept := 0
	for _, n := range tr.seen[:2] { // as if the first two alone had been delivered
		kept += n
	}
	tr.got = tr.got[:2]
	tr.account(s, cut, mutant, outcome{opened: true})
	if f := c.findings["unsaid"]; f == nil || f.count != 1 {
		t.Errorf("an unsaid loss is not found: %v", c.findings)
	}
	tr.kept.write(&out)
	if !strings.Contains(out.String(), "| truncation |") || !strings.Contains(out.String(), "1 of 2") {
		t.Errorf("the tables are\n%s", out.Bytes())
	}
}

// TestInjected checks that code which a manifest brings in would be found.
func TestInjected(t *testing.T) {
	for _, bad := range []string{
		"package q\n", "package p\n\nimport \"os\"\n", "package p\n\nfunc init() {}\n",
		"package p\n\n//go:generate false\n", "package p\n\n/* text */\n",
	} {
		if err := injected([]gen.File{{Name: "a.go", Content: []byte(bad)}}); err == nil {
			t.Errorf("not found: %s", bad)
		}
	}
	good := "package p\n\nimport \"math\"\n\n// F is good.\nfunc F() float64 { return math.Pi }\n"
	if err := injected([]gen.File{{Name: "a.go", Content: []byte(good)}}); err != nil {
		t.Error(err)
	}
	for line, ok := range map[string]bool{"# text\n": true, "Event 0x00ff a=\"b\"\n": true, "Event 0x\x1b b\n": false, "package q\n": false} {
		if err := injected([]gen.File{{Name: gen.GoldenFile, Content: []byte(line)}}); (err == nil) != ok {
			t.Errorf("%q in a file of payloads: %v", line, err)
		}
	}
	if err := injected([]gen.File{{Name: "../a.go", Content: []byte(good)}}); err == nil {
		t.Error("a file in another folder is not found")
	}
}

// TestDigest checks that records with other times or payloads are told apart.
func TestDigest(t *testing.T) {
	a := digest(&etw.Record{Timestamp: 1, Payload: []byte{1}})
	if a == digest(&etw.Record{Timestamp: 2, Payload: []byte{1}}) || a == digest(&etw.Record{Timestamp: 1, Payload: []byte{2}}) {
		t.Error("two records have the same digest")
	}
	if a != digest(&etw.Record{Timestamp: 1, Payload: []byte{1}, ID: 5}) {
		t.Error("the id, which may be defined elsewhere, changes the digest")
	}
}
