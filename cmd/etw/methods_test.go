package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestMethodTimes: the times of methods that top --activity has, of each kind of request, are
// those that the program measured, within the error of samples in so short a time.
func TestMethodTimes(t *testing.T) {
	for _, path := range corpus.Glob(t, "causes/ferry-*.nettrace.gz") {
		name := filepath.Base(path)
		if !strings.Contains(name, "-full") && !strings.Contains(name, "-flow") || os.Getenv("ETWGEN_TESTS") != "all" && !strings.Contains(name, "net9-full") {
			continue
		}
		var truth struct {
			Requests []struct {
				Kind     string
				Segments []struct {
					Type, Name string
					From, To   int64
				}
			}
		}
		testio.JSON(t, testio.Unpacked(t, strings.TrimSuffix(path, ".nettrace.gz")+".truth.json.gz"), &truth)
		want := make(map[string]map[string]float64)
		for _, q := range truth.Requests {
			for _, s := range q.Segments {
				if s.Type != "cpu" {
					continue
				}
				if want[q.Kind] == nil {
					want[q.Kind] = make(map[string]float64)
				}
				want[q.Kind][s.Name] += float64(s.To-s.From) / 1e6
			}
		}
		all, off := 0.0, 0.0
		for kind, methods := range want {
			if sum := sumOf(methods); sum < 100 && os.Getenv("ETWGEN_TESTS") != "all" {
				continue
			}
			got := methodTimes(t, path, kind)
			for method, ms := range methods {
				all += ms
				off += math.Abs(got[method] - ms)
			}
		}
		t.Logf("%s: %.1f %% of %.0f ms by method and kind of request are wrong", name, 100*off/all, all)
		if !(off <= 0.07*all) {
			t.Errorf("%s: %.1f ms of %.0f are wrong", name, off, all)
		}
	}
}

func sumOf(list map[string]float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// methodTimes returns the ms of methods, by their short names, in requests of a kind.
func methodTimes(t *testing.T, path, kind string) map[string]float64 {
	out, stderr, code := output("top", "--activity", "kind="+kind, "--names", "short", "--sort", "totalMs", "--top", "1000", "--format", "csv", path)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || code != 0 || len(rows) < 2 {
		t.Fatalf("%s: %d, %s, %v", kind, code, stderr, err)
	}
	column := make(map[string]int)
	for i, c := range rows[0] {
		column[c] = i
	}
	times := make(map[string]float64)
	for _, row := range rows[1:] {
		ms, err := strconv.ParseFloat(row[column["totalMs"]], 64)
		if err != nil {
			t.Fatal(err)
		}
		method := row[column["method"]]
		times[method[strings.LastIndexByte(method, '.')+1:]] += ms
	}
	return times
}
