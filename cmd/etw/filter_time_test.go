package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
