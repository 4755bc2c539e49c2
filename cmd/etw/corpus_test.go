package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/show/showtest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A readerCount is a reader's own count of a trace.
type readerCount struct {
	events, lost, undecodable int64
	clean                     bool
}

func readETL(t *testing.T, path string) readerCount {
	t.Helper()
	r := testio.Open(t, etl.Open, path)
	defer r.Close()
	n := readerCount{clean: true}
	var rec etw.Record
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			break
		}
		n.clean = n.clean && err == nil
	}
	s := r.Stats()
	n.events, n.lost, n.undecodable = s.Records, s.Lost, s.Undecodable+s.Unknown
	return n
}

func readNettrace(t *testing.T, path string) readerCount {
	t.Helper()
	r := testio.Open(t, nettrace.Open, path)
	defer r.Close()
	n := readerCount{}
	var rec etw.Record
	err := r.Next(&rec)
	for err == nil {
		err = r.Next(&rec)
	}
	n.clean = err == io.EOF
	s := r.Stats()
	n.events, n.lost = s.Records, s.Lost
	return n
}

// TestCorpus runs stat and dump on the traces of the corpus, and holds them
// against the readers and against each other.
func TestCorpus(t *testing.T) {
	paths := append(corpus.Glob(t, "etl", "*.etl"), corpus.Glob(t, "nettrace", "*.net*")...)
	tested := 0
	for _, path := range paths {
		if strings.HasSuffix(path, ".txt") {
			continue
		}
		tested++
		if info, err := os.Stat(path); err != nil || (testing.Short() || !corpus.All()) && info.Size() > 1<<20 {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			read := readNettrace
			if filepath.Ext(path) == ".etl" {
				read = readETL
			}
			want := read(t, path)
			stat := corpusStat(t, path, want)
			corpusDump(t, path, want, stat)
		})
	}
	if tested < 15 {
		t.Errorf("only %d traces", tested)
	}
}

// A statRow is a row of stat: a kind of events, or of losses.
type statRow struct {
	Count    int64    `json:"count"`
	Bytes    *int64   `json:"bytes"`
	Bad      *int64   `json:"undecodable"`
	First    *float64 `json:"firstMs"`
	Last     *float64 `json:"lastMs"`
	Provider string   `json:"provider"`
	GUID     string   `json:"guid"`
	ID       *int     `json:"id"`
	Version  *int     `json:"version"`
	Opcode   *int     `json:"opcode"`
	Event    string   `json:"event"`
}

func wantCode(clean bool) int {
	if clean {
		return 0
	}
	return cli.ExitTrouble
}

func corpusStat(t *testing.T, path string, want readerCount) []statRow {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"stat", "--format", "json", path}, strings.NewReader(""), &stdout, &stderr); code != wantCode(want.clean && want.lost == 0) {
		t.Fatalf("stat: exit code %d: %s", code, stderr.String())
	}
	var doc struct {
		Schema, Warnings, Next any
		Trace                  struct {
			Events, Lost, LostBuffers, Undecodable  int64
			NamedPercent, Truncated, Damaged, Files any
		}
		Rows []statRow
	}
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	got, events := doc.Rows, int64(0)
	for _, row := range got {
		events += row.Count
	}
	if n := doc.Trace; events != want.events || n.Events != want.events || n.Lost != want.lost || n.Undecodable != want.undecodable {
		t.Errorf("stat: %d events in rows, %+v; the reader has %+v", events, n, want)
	}
	return got
}

func corpusDump(t *testing.T, path string, want readerCount, stat []statRow) {
	var sums [2][sha256.Size]byte
	for i := range sums {
		hash := sha256.New()
		check := newDumpCheck(t)
		var stderr bytes.Buffer
		out := io.MultiWriter(hash, check)
		if i > 0 {
			out = hash
		}
		code := run([]string{"dump", "--format", "jsonl", "--stacks", "--payload", path}, strings.NewReader(""), out, &stderr)
		if check.close(); code != wantCode(want.clean && want.lost == 0) {
			t.Fatalf("dump: exit code %d: %s", code, stderr.String())
		}
		hash.Sum(sums[i][:0])
		if i > 0 {
			break
		}
		if check.lines != want.events {
			t.Errorf("dump: %d lines, want %d", check.lines, want.events)
		}
		counts, undecodable := make(map[string]int64), int64(0)
		for _, row := range stat {
			counts[row.Provider+" "+row.Event] += row.Count
			if row.Bad != nil {
				undecodable += *row.Bad
			}
		}
		if check.errors != undecodable {
			t.Errorf("dump: %d events are undecodable, by stat %d", check.errors, undecodable)
		}
		for name, n := range check.counts {
			if counts[name] != n {
				t.Errorf("dump: %d events %s, by stat %d", n, name, counts[name])
			}
		}
	}
	if sums[0] != sums[1] {
		t.Error("dump: the second time is different")
	}
}

// A dumpCheck checks the lines that are written to it.
type dumpCheck struct {
	t      *testing.T
	w      *io.PipeWriter
	done   chan struct{}
	lines  int64
	errors int64
	counts map[string]int64 // by provider and event
	ms     float64
}

func newDumpCheck(t *testing.T) *dumpCheck {
	r, w := io.Pipe()
	c := &dumpCheck{t: t, w: w, done: make(chan struct{}), counts: make(map[string]int64), ms: -1e300}
	go func() {
		defer close(c.done)
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				if len(line) > 0 {
					t.Errorf("the last line does not end: %s", line)
				}
				return
			}
			c.line(line)
		}
	}()
	return c
}

func (c *dumpCheck) Write(p []byte) (int, error) { return c.w.Write(p) }

func (c *dumpCheck) close() {
	c.w.Close()
	<-c.done
}

// line checks one line.
func (c *dumpCheck) line(line []byte) {
	c.lines++
	var head struct {
		MS       *float64
		Provider *string
		Event    *string
		Error    *string
	}
	if err := json.Unmarshal(line, &head); err != nil {
		c.t.Errorf("line %d: %v: %.200s", c.lines, err, line)
		return
	}
	if head.MS == nil || head.Provider == nil || head.Event == nil {
		c.t.Errorf("line %d lacks a key: %.200s", c.lines, line)
		return
	}
	if *head.MS < c.ms {
		c.t.Errorf("line %d: %v ms come after %v", c.lines, *head.MS, c.ms)
	}
	c.ms = *head.MS
	if head.Error != nil && !strings.Contains(*head.Error, "is not known") {
		c.errors++
	}
	name := *head.Provider + " " + *head.Event
	if c.counts[name]++; c.counts[name] == 1 {
		if err := showtest.CheckEvent(line); err != nil {
			c.t.Errorf("line %d: %v: %.200s", c.lines, err, line)
		}
	}
}
