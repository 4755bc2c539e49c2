package main

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "lower the levels of held.txt to those of today")

const heldFile = "held.txt"

// TestLimits holds the limits, and where one is exceeded the level of held.txt, which is
// only lowered: -update does it.
func TestLimits(t *testing.T) {
	files, err := readTree("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 500 {
		t.Fatalf("the module has %d files", len(files))
	}
	var found map[string]circle
	whole := *update || corpus.All() && !testing.Short()
	if whole { // types take seconds
		if found, err = circles("../..", byPath(files)); err != nil {
			t.Fatal(err)
		}
	}
	held := readHeld(t)
	left := map[string]int{}
	for _, m := range measures(files, found) {
		level, ok := held[m.key()]
		switch {
		case !m.over():
		case !ok:
			t.Errorf("%s is %d, over %d", m.key(), m.level, m.limit())
		case m.level > level:
			t.Errorf("%s is %d, over the %d that %s has", m.key(), m.level, level, heldFile)
		default:
			left[m.key()] = m.level
		}
	}
	if !whole {
		return
	}
	if *update && !t.Failed() {
		writeHeld(t, left)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(held)) {
		if _, ok := left[key]; !ok && !t.Failed() {
			t.Errorf("%s is within its limit: go test ./tests/house -update takes it out of %s", key, heldFile)
		}
	}
}

func readHeld(t *testing.T) map[string]int {
	data := testio.Read(t, heldFile)
	held := map[string]int{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if line == "" || line[0] == '#' {
			continue
		}
		level, err := strconv.Atoi(line[at+1:])
		if err != nil {
			t.Fatalf("%s: %q: %v", heldFile, line, err)
		}
		held[line[:at]] = level
	}
	return held
}

func writeHeld(t *testing.T, left map[string]int) {
	var b strings.Builder
	b.WriteString("# What is over a limit, and how much it may be until it is mended: see limits.go.\n")
	for _, key := range slices.Sorted(maps.Keys(left)) {
		level := left[key]
		if level >= 1000 {
			level = (level + 99) / 100 * 100 // a fix may add a line
		}
		fmt.Fprintf(&b, "%s %d\n", key, level)
	}
	testio.Write(t, heldFile, []byte(b.String()))
}

// TestReadTree reads a small module.
func TestReadTree(t *testing.T) {
	files, err := readTree("testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	var got []file
	for _, f := range files {
		got = append(got, *f)
	}
	want := []file{
		{folder: ".", name: "a.go", lines: 24, comments: 4, excused: true, funcs: []function{
			{"plain", 1, 1, false}, {"pair.branches", 14, 6, true},
		}},
		{folder: ".", name: "b.go", lines: 5, funcs: []function{{"back", 1, 1, false}}},
		{folder: ".", name: "c.go", lines: 3, funcs: []function{{"ahead", 1, 1, false}}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(file{}, function{})); diff != "" {
		t.Error(diff)
	}
}

// TestCircles: a and b use each other, and c is used alone.
func TestCircles(t *testing.T) {
	files, err := readTree("testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	found, err := circles("testdata/small", byPath(files))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]circle{".": {2, 29, []arrow{{"a.go", "b.go", []string{"back"}}, {"b.go", "a.go", []string{"pair", "plain", "x"}}}}}, found, cmp.AllowUnexported(circle{}, arrow{})); diff != "" {
		t.Error(diff)
	}
}
