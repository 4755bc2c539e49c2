package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A partOfTime is a time of a trace.
type partOfTime struct{ path, from, to string }

// Parts of the time answer as the whole trace does for the same time: intervals that go over the
// ends have what they need.
func TestFilterTimeAnswers(t *testing.T) {
	t.Run("made", func(t *testing.T) {
		made := filepath.Join(t.TempDir(), "made.etl")
		data, err := switchesTrace()
		if err == nil {
			err = os.WriteFile(made, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkPartsOfTime(t, partOfTime{made, "2.2", "2.7"}, partOfTime{made, "5.5", "7.2"}, partOfTime{made, "2.8", "20"})
	})
	t.Run("corpus", func(t *testing.T) {
		path := corpus.File(t, "etl", "filtrace_etw.etl")
		checkPartsOfTime(t, partOfTime{path, "500", "800"}, partOfTime{path, "1000", "1500"})
	})
}

func checkPartsOfTime(t *testing.T, parts ...partOfTime) {
	asked := [][]string{{"threads"}, {"threads", "--by", "switch"}, {"threads", "--by", "processor"}, {"top", "--of", "blocked"}, {"top", "--of", "disk"}, {"top", "--of", "files"}, {"files"}, {"files", "--disks"}}
	for _, p := range parts {
		out := outputFor(t, p.path, "part")
		if said, code := filtered(p.path, "--from", p.from, "--to", p.to, "-o", out); code != 0 {
			t.Fatalf("exit code %d: %s", code, said)
		}
		answered := 0
		for _, ask := range asked {
			args := slices.Concat(ask, []string{"--from", p.from, "--to", p.to, "--format", "csv"})
			want, _, code := output(append(args, p.path)...)
			got, _, partCode := output(append(args, out)...)
			if some := strings.Count(want, "\n") > 1; some && (got != want || code != partCode) {
				t.Errorf("%v of %s: of the part\n%.600s\nof the whole\n%.600s", args, filepath.Base(p.path), got, want)
			}
			if code == 0 {
				answered++
			}
		}
		if answered < 4 {
			t.Errorf("%s from %s: %d answers", filepath.Base(p.path), p.from, answered)
		}
	}
}

// TestFilterWakers: of a part by process the wakers are those of the whole, also where the thread that
// ran on the processor before and after is another one; all that they waited for stays, too.
func TestFilterWakers(t *testing.T) {
	var k kernelLog
	for i, tid := range []uint32{10, 20, 30} {
		pid := uint32(100 * (i + 1))
		k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ProcessID: pid, ImageFileName: etw.ANSI("p.exe")})
		k.log(0, -1, -1, 0, &kernel.ThreadDCStartV3{ProcessID: pid, TThreadID: tid})
	}
	to := func(ms float64, old, fresh uint32) {
		k.log(ms, int64(10*fresh), int64(fresh), 1, &kernel.ThreadCSwitchV4{OldThreadID: old, NewThreadID: fresh, OldThreadState: kernel.ThreadStateWaiting})
	}
	to(1, 0, 10)
	to(2, 10, 20)
	to(3, 20, 30)
	k.log(4, -1, -1, 1, &kernel.ThreadReadyThreadV2{TThreadID: 10})
	to(5, 30, 20)
	to(6, 20, 10)
	to(7, 10, 20)
	to(8, 20, 30)
	k.log(9, -1, -1, 1, &kernel.ThreadReadyThreadV2{TThreadID: 20})
	to(10, 30, 20)
	to(11, 20, 10)
	data, err := etltest.File(header(), k.records...)
	if err != nil || k.err != nil {
		t.Fatal(err, k.err)
	}
	path, part := filepath.Join(t.TempDir(), "wakers.etl"), filepath.Join(t.TempDir(), "part.etl")
	write(t, path, data)
	out, stderr, code := output("filter", path, "--process", "100", "-o", part)
	if want := "5 events, and 13 events that the rest needs"; code != 0 || !strings.Contains(out, want) {
		t.Errorf("code %d, %s, %s; want %s", code, out, stderr, want)
	}
	for _, path := range []string{path, part} {
		out, _, _ := output("threads", "--by", "switch", "--process", "100", "--format", "csv", path)
		if want := ",10,,,2,Executive,2,30,,1\n"; !strings.Contains(out, want) {
			t.Errorf("%s: no %q in %s", path, want, out)
		}
	}
}
