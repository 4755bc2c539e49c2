package main

import (
	"encoding/csv"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/tests/corpus"
)

// weighedOf returns the weights of a kind of samples by process, in the order of etw top, and the sum
// of all rows.
func weighedOf(t *testing.T, kind string, args ...string) (pids []string, byPID map[string]float64, sum float64) {
	t.Helper()
	stdout, _, _ := output(append([]string{"top", "--of", kind, "--by", "process", "--format", "csv"}, args...)...)
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	number := regexp.MustCompile(`(\d+)\)?$`)
	byPID = make(map[string]float64)
	for _, row := range rows[min(1, len(rows)):] {
		ms, err := strconv.ParseFloat(row[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += ms
		if m := number.FindStringSubmatch(row[len(row)-1]); m != nil {
			pids, byPID[m[1]] = append(pids, m[1]), ms
		}
	}
	return pids, byPID, sum
}

// The switch away from a thread is an event of the thread that follows, and the end of a request is
// nobody's: one process has as much as among all.
func TestWeighedOfProcesses(t *testing.T) {
	for _, path := range corpus.Glob(t, "etl", "*.etl") {
		for _, kind := range []string{"blocked", "files", "disk"} {
			pids, all, _ := weighedOf(t, kind, path)
			for _, pid := range pids[:min(2, len(pids))] {
				if _, _, sum := weighedOf(t, kind, "--process", pid, path); math.Abs(sum-all[pid]) > 1e-6 {
					t.Errorf("%s: %s of --process %s: %v ms, want %v", path, kind, pid, sum, all[pid])
				}
			}
		}
	}
}
