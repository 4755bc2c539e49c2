package main

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A sampleCount says how many samples of processors there are, and how many have a stack.
type sampleCount struct{ all, stacks int }

// A dumpedSample is a sample as dump has it.
type dumpedSample struct {
	MS     float64             `json:"ms"`
	PID    int64               `json:"pid"`
	TID    int64               `json:"tid"`
	Stack  []any               `json:"stack"`
	Fields struct{ Flags int } `json:"fields"`
}

// dumpSamples returns the samples of a trace, without those of idle threads that no DPC and no
// interrupt interrupts.
func dumpSamples(t *testing.T, path string) []dumpedSample {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run([]string{"dump", "-e", "PerfInfo/Sample", "--stacks", "--format", "jsonl", path}, strings.NewReader(""), &out, &complaints); code == cli.ExitUsage {
		return nil // there are none
	}
	var list []dumpedSample
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s dumpedSample
		testio.JSON(t, lines.Bytes(), &s)
		if s.TID != 0 && s.PID != 0 || s.TID == 0 && s.Fields.Flags&3 != 0 {
			list = append(list, s)
		}
	}
	return list
}

func countSamples(list []dumpedSample, is func(dumpedSample) bool) (n sampleCount) {
	for _, s := range list {
		if is(s) {
			n.all++
			if len(s.Stack) > 0 {
				n.stacks++
			}
		}
	}
	return n
}

var samplesFact = regexp.MustCompile(`(\d+) samples?, (\d+) without a stack`)

// topSamples returns how many samples and stacks etw top says that there are.
func topSamples(t *testing.T, args ...string) (n sampleCount) {
	t.Helper()
	var out, complaints bytes.Buffer
	if code := run(append([]string{"top", "--top", "1"}, args...), strings.NewReader(""), &out, &complaints); code == cli.ExitUsage {
		t.Fatalf("%q: %s", args, complaints.String())
	}
	if m := samplesFact.FindStringSubmatch(out.String()); m != nil {
		n.all, _ = strconv.Atoi(m[1])
		without, _ := strconv.Atoi(m[2])
		n.stacks = n.all - without
	}
	return n
}

// The call stacks of events that a filter lets through are those that it has without the
// filter: in answers, and in files that are read again.
func TestStacksUnderFilters(t *testing.T) {
	var stacks atomic.Int64
	t.Cleanup(func() {
		if stacks.Load() == 0 && !t.Skipped() {
			t.Error("no trace has samples with stacks")
		}
	})
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			list := dumpSamples(t, path)
			stacks.Add(int64(countSamples(list, func(dumpedSample) bool { return true }).stacks))
			check := func(what string, want sampleCount, args ...string) {
				t.Helper()
				if got := topSamples(t, append(args, path)...); got != want {
					t.Errorf("%s: %+v, want %+v", what, got, want)
				}
				part := filepath.Join(t.TempDir(), "part.etl")
				if said, code := filtered(append(args, path, "-o", part)...); code == cli.ExitUsage {
					t.Errorf("filter by %s: %s", what, said)
				} else if got := topSamples(t, part); got != want {
					t.Errorf("file by %s: %+v, want %+v", what, got, want)
				}
			}
			first, last := 0.0, 0.0
			pids := make(map[int64]bool)
			for _, s := range list {
				if !pids[s.PID] && s.PID > 0 {
					pids[s.PID] = true
					check(fmt.Sprint("process ", s.PID), countSamples(list, func(x dumpedSample) bool { return x.PID == s.PID }), "--process", fmt.Sprint(s.PID))
				}
				if first == 0 {
					first = s.MS
				}
				last = s.MS
			}
			if len(list) == 0 {
				t.Skip("there are no samples")
			}
			for _, part := range []float64{0, 0.3, 0.6} {
				from, to := first+part*(last-first), first+(part+0.2)*(last-first)
				text := []string{strconv.FormatFloat(from, 'f', 3, 64), strconv.FormatFloat(to, 'f', 3, 64)}
				from, _ = strconv.ParseFloat(text[0], 64)
				to, _ = strconv.ParseFloat(text[1], 64)
				check(fmt.Sprint("time ", text), countSamples(list, func(x dumpedSample) bool { return x.MS >= from && x.MS < to }), "--from", text[0], "--to", text[1])
			}
			all := countSamples(list, func(dumpedSample) bool { return true })
			for _, args := range [][]string{{"-p", "Windows Kernel"}, {"-e", "PerfInfo/Sample"}} {
				part := filepath.Join(t.TempDir(), "part.etl")
				if said, code := filtered(append(args, path, "-o", part)...); code == cli.ExitUsage {
					t.Errorf("%q: %s", args, said)
				} else if got := topSamples(t, part); got != all {
					t.Errorf("file by %q: %+v, want %+v", args, got, all)
				}
			}
		})
	}
}
