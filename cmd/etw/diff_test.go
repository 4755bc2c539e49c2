package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/internal/testio"
)

// A trace compared with itself has not changed, with part of itself it has by the part that
// is left out, and by nothing else.
func TestDiff(t *testing.T) {
	b := bakeryTrace(t)
	path := filepath.Join(t.TempDir(), "bakery.nettrace")
	testio.Write(t, path, b)
	var whole, same topResult
	for into, args := range map[*topResult][]string{&whole: {"top", "--json", path}, &same: {"top", "--json", "--diff", path, path}} {
		out, stderr, status := output(args...)
		if err := json.Unmarshal([]byte(out), into); err != nil || status != 0 {
			t.Fatalf("%v, %s", err, stderr)
		}
	}
	if total := whole.Totals[1]; !slices.Equal(same.Totals, []int64{total, total}) || same.Kind != "thread time, compared" {
		t.Errorf("%+v", same)
	}
	for _, row := range same.Rows {
		i := slices.IndexFunc(whole.Rows, func(r code.TopRow) bool { return r.Full == row.Full && r.Method == row.Method })
		if i < 0 || row.Self[0] != row.Self[1] || row.Self[1] != whole.Rows[i].Self[1] || row.Total[0] != whole.Rows[i].Total[1] {
			t.Errorf("%+v", row)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"top", "--diff"}, "thread time, compared: 33.500 ms before, 33.500 ms after, +0.0 %\n"},
		{[]string{"top", "--by", "state", "--format", "csv", "--diff"}, "changeMs,beforeMs,afterMs,state\n0,29.5,29.5,managed\n"},
		{[]string{"tree", "--format", "csv", "--diff"}, "changeMs,beforeMs,afterMs,selfChangeMs,depth,method,full\n0,33.5,33.5,0,0,Bakery.Program.Main,Shop!"},
		{[]string{"flame", "--diff"}, `"compared":true`},
		{[]string{"flame", "--diff"}, "bakery.nettrace, compared with bakery.nettrace"},
	} {
		if out, stderr, status := output(append(test.args, path, path)...); status != 0 || !strings.Contains(out, test.want) {
			t.Errorf("%q: %d, %s, %.300s", test.args, status, stderr, out)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"top", "--diff", filepath.Join(filepath.Dir(path), "none"), path}, "--diff: "},
		{[]string{"top", "--of", "waits", "--diff", path, path}, "no events of waits"},
		{[]string{"top", "--of", "waits", "--by", "kind", path}, "no events of waits"},
		{[]string{"top", "--by", "stat", path}, "--by stat: no sample has a label of that name; there are method, module, thread, process, stack, kind, line, state (did you mean state?)"},
		{[]string{"top", "--label", "state=none", path}, "none passes --tid, --label"},
		{[]string{"export", "--of", "waits", "--format", "folded", path}, "there is nothing to write"},
		{[]string{"tree", "--root", "Nobody", path}, "none passes --tid, --label, --kind, --root"},
		{[]string{"tree", "--callers", "Nobody", path}, "--callers Nobody: no frame of"},
	} {
		if _, stderr, _ := output(test.args...); !strings.Contains(stderr, test.want) {
			t.Errorf("%q: %s", test.args, stderr)
		}
	}
}

// Threads that wait are the last row, however much longer they do: the first is of work.
func TestDiffOfWaiting(t *testing.T) {
	out, stderr, code := output("top", "--format", "csv", "--diff", recordedPath("causes/cause-10.nettrace.gz"), recordedPath("causes/cause-light-10.nettrace.gz"))
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if last := rows[len(rows)-1]; code != 0 || len(rows) < 3 || !strings.HasSuffix(last, ",[waiting],,[waiting]") {
		t.Errorf("exit code %d, %s, the last of %d rows is %s", code, stderr, len(rows), last)
	}
}
