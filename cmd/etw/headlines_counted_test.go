package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// onLines are samples by the line of the innermost frame that has one.
func onLines(w *witness) map[string]float64 {
	var exact struct {
		Exact struct{ Nearest map[string]float64 }
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(w.path), "exact.json"))
	if err == nil {
		err = json.Unmarshal(b, &exact)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
	for key := range exact.Exact.Nearest {
		if !strings.HasPrefix(key, "Lines.cs:") { // it has no line
			delete(exact.Exact.Nearest, key)
		}
	}
	return exact.Exact.Nearest
}

// blockedWorkers counts adjustments that add workers for blocked ones.
func blockedWorkers(w *witness) map[string]float64 {
	n, before := 0.0, 0.0
	for _, row := range w.dump("ThreadPoolWorkerThreadAdjustmentAdjustment") {
		workers := w.value(row["NewWorkerThreadCount"])
		if row["Reason"] == "CooperativeBlocking" && workers > before {
			n++
		}
		before = workers
	}
	return one(n, n > 0)
}

func mostWorkers(w *witness) map[string]float64 {
	most := 0.0
	for _, row := range w.dump("ThreadPoolWorkerThreadStart") {
		most = max(most, w.value(row["ActiveWorkerThreadCount"]))
	}
	return one(most, most > 0)
}

// value is a number of dump.
func (w *witness) value(text string) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		w.tb.Fatal(err)
	}
	return n
}

// ask returns the text that a command prints, or a tool of mcp answers.
func (w *witness) ask(t *testing.T, command string) string {
	if tool, ok := strings.CutPrefix(command, "mcp "); ok {
		dir, file := filepath.Split(w.path)
		return tell(t, assistant(t, "--root", dir), tool, map[string]any{"trace": file}).text
	}
	text, stderr, code := output(command, w.path)
	if code > 1 {
		t.Fatalf("%s %s: exit code %d: %s", command, w.path, code, stderr)
	}
	return strings.ReplaceAll(text, "\u00a0", " ") // between numbers and units of the page
}
