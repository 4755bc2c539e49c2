package main

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
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

// TestDiffAcross: processes and threads have other numbers in another recording, and are compared by their
// names.
func TestDiffAcross(t *testing.T) {
	record := func(file string, counts map[string]int, numbers map[string]uint32) string {
		var k kernelLog
		for _, name := range []string{"a.exe", "b.exe"} {
			pid := numbers[name]
			k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ProcessID: pid, UserSID: etw.TokenUser{User: 1, SID: etw.SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}}, ImageFileName: etw.ANSI(name)})
			k.log(0, -1, -1, 0, &kernel.ThreadDCStartV4{ProcessID: pid, TThreadID: pid + 1, ThreadName: etw.MakeUTF16("main")})
			k.log(0, -1, -1, 0, &kernel.ThreadDCStartV4{ProcessID: pid, TThreadID: pid + 2})
			for n := range counts[name] {
				k.log(1+float64(n), -1, -1, int32(pid/100)%2, &kernel.PerfInfoSampleV2{ThreadID: pid + 1 + uint32(n)%5/4, InstructionPointer: 0x140001000, Count: 1})
			}
		}
		slices.SortStableFunc(k.records, func(a, b *etw.Record) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
		data, err := etltest.File(header(), k.records...)
		if err = cmp.Or(err, k.err); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), file)
		testio.Write(t, path, data)
		return path
	}
	before := record("before.etl", map[string]int{"a.exe": 50, "b.exe": 20}, map[string]uint32{"a.exe": 100, "b.exe": 200})
	for _, numbers := range []map[string]uint32{{"a.exe": 200, "b.exe": 100}, {"a.exe": 600, "b.exe": 500}} {
		after := record("after.etl", map[string]int{"a.exe": 70, "b.exe": 30}, numbers)
		for by, want := range map[string]string{
			"process": "20,50,70,a.exe\n10,20,30,b.exe\n",
			"thread":  "16,40,56,main of a.exe\n8,16,24,main of b.exe\n4,10,14,threads without a name of a.exe\n2,4,6,threads without a name of b.exe\n",
		} {
			if out, stderr, _ := output("top", "--by", by, "--format", "csv", "--diff", before, after); out != "changeMs,beforeMs,afterMs,"+by+"\n"+want {
				t.Errorf("--by %s: %s\n%s", by, stderr, out)
			}
		}
		out, _, _ := output("tree", "--threads", "--format", "csv", "--diff", before, after)
		if !strings.Contains(out, "\n16,40,56,0,0,main of a.exe,") {
			t.Errorf("tree --threads:\n%s", out)
		}
	}
}
