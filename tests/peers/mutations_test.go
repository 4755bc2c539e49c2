package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// mutationsVariable says which errors are planted: all, if it is so, else the first.
const mutationsVariable = "ETWGEN_MUTATIONS"

// A mutation is an error in an analysis.
type mutation struct {
	what     string
	file     string // below analysis
	old, new string
}

var mutations = []mutation{
	{"a tick is counted twice", "alloc/alloc.go", "	kind.Count++\n", "	kind.Count += 2\n"},
	{"a pause ends when the runtime begins to resume", "gc/suspension.go", "	from := p.begin\n	for i", "	from := p.ready\n	for i"},
	{"the heap after a collection lacks a generation", "gc/columns.go", "			after, promoted = measure.Plus(after, c.stats.size[i]), measure.Plus(promoted, survived)\n", "			promoted = measure.Plus(promoted, survived)\n			if i != 1 {\n				after = measure.Plus(after, c.stats.size[i])\n			}\n"},
	{"a compilation has a byte of IL more", "jit/jit.go", "il: e.MethodILSize, ", "il: e.MethodILSize + 1, "},
	{"exceptions of one type count for another", "exceptions/exceptions.go", "		s.sites[at]++\n", "		s.sites[at] += 1 + s.count&1\n"},
	{"contention is from the begin of the one before", "contention/contention.go", "		s.byEvents += rt.Now - b.At\n", "		s.byEvents += rt.Now - rt.First\n"},
	{"a wait is shorter by a part in a thousand", "waits/waits.go", "	ms := rt.MS(rt.Now - b.At)\n", "	ms := rt.MS(rt.Now-b.At) * 0.999\n"},
	{"objects of the heap lack their size", "heap/snapshot.go", "		row.Bytes += size\n", "		row.Bytes += size &^ 31\n"},
	{"the increment of a counter is its rate", "counters/counters.go", `Increment: number("Increment")}`, `Increment: number("IntervalSec")}`},
	{"an activity that stops is that of its thread before", "requests/requests.go", "	ms, exclusive := rt.MS(c.end-c.begin),", "	ms, exclusive := rt.MS(c.end-c.begin-c.covered),"},
	{"samples of external code are those of managed", "cpu/cpu.go", "		if x.state == managed {\n", "		if x.state == external {\n"},
	{"free space that was not updated is that of the list alone", "gc/history.go", "		return measure.Plus(g.FreeListBefore, g.FreeObjBefore)\n", "		return g.FreeListBefore\n"},
	{"rates go from the begin of the last pause", "gc/suspension.go", "s.lastEnd, s.hasLast = now, true", "s.lastEnd, s.hasLast = p.begin, true"},
	{"the last pause of a background collection is no pause", "gc/suspension.go", "		b.pause += now - p.begin\n", ""},
	{"an event of tuning has a pause that is longer", "gc/dynamic.go", "SizeAdaptationSample{d.u64(), d.u32(), d.u32(),", "SizeAdaptationSample{d.u64(), d.u32(), d.u32() + 1,"},
	{"results of exceptions have no sign", "exceptions/exceptions.go", "HResult: int32(e.ExceptionHRESULT)", "HResult: int32(e.ExceptionHRESULT & 0x7fffffff)"},
	{"who waits for a lock owns it", "contention/contention.go", ", int64(e.LockOwnerThreadID)}", ", r.ThreadID}"},
	{"the deviation of a counter is its mean", "counters/counters.go", `StdDev: number("StandardDeviation")`, `StdDev: number("Mean")`},
	{"the code of each method is a byte longer", "loader/loader.go", "MethodBytes: s.bytes}", "MethodBytes: s.bytes + uint64(s.methods)}"},
	{"the creator of an activity is that of its creator", "requests/requests.go", "		c.Parent = parent.task.name\n", "		c.Parent = parent.Parent\n"},
	{"what was at an address last is there from the begin", "symbols/table.go", "	case at < x.from:\n		return distance(at, x.from)\n", ""},
	{"samples of large objects stand for too much", "alloc/alloc.go", "	miss := math.Pow(q, size)", "	miss := math.Pow(q, size/2)"},
	{"objects keep alive no more than themselves", "heap/dominators.go", "		t.retained[t.dom[i]] += t.retained[i]\n", "		t.retained[t.dom[i]] += t.retained[i] / 2\n"},
	{"an adjustment of the thread pool has a worker more", "threadpool/threadpool.go", "		reasons[adj.Adjustment.Reason]++\n", "		reasons[adj.Adjustment.Reason]++\n		out.Adjustments[len(out.Adjustments)-1].Workers++\n"},
}

// leastMutations is how many of the errors must always be such that they can be planted:
// who changes an analysis may leave one behind for a while.
const leastMutations = 18

// TestMutations plants errors in the analyses, one by one, and wants the comparisons with TraceEvent, or with
// programs' own accounts, to fail for each. By itself it plants one, and sees that the others could be: that the
// text they replace is there, once.
func TestMutations(t *testing.T) {
	corpus.Dir(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	root := testio.Abs(t, filepath.Join("..", ".."))
	all := os.Getenv(mutationsVariable) == "all"
	planted, possible := 0, 0
	for _, m := range mutations {
		path := filepath.Join(root, "analysis", filepath.FromSlash(m.file))
		b := testio.Read(t, path)
		source := strings.ReplaceAll(string(b), "\r\n", "\n")
		if n := strings.Count(source, m.old); n != 1 {
			t.Logf("%s: %s has %q %d times", m.what, m.file, m.old, n)
			if all {
				t.Fail()
			}
			continue
		}
		possible++
		if all || planted == 0 && !testing.Short() {
			planted++
			t.Run(m.what, func(t *testing.T) { plant(t, root, path, strings.Replace(source, m.old, m.new, 1)) })
		}
	}
	if possible < leastMutations {
		t.Errorf("only %d errors can be planted; their texts must be brought up to date", possible)
	}
	t.Logf("%d errors planted, of %d that can be", planted, possible)
}

// plant runs the comparisons with another source in the place of a file.
func plant(t *testing.T, root, path, source string) {
	t.Helper()
	dir := t.TempDir()
	mutant := filepath.Join(dir, "mutant.go")
	testio.Write(t, mutant, source)
	overlay := testio.Marshal(t, map[string]map[string]string{"Replace": {path: mutant}})
	list := filepath.Join(dir, "overlay.json")
	testio.Write(t, list, overlay)
	build := exec.Command("go", "build", "-overlay", list, "./"+filepath.ToSlash(filepath.Join("analysis", filepath.Base(filepath.Dir(path)))))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the error cannot be planted: %v\n%s", err, out)
	}
	test := exec.Command("go", "test", "-vet=off", "-overlay", list, "-run", "TraceEventAgrees|TestTruth", "./tests/peers")
	test.Dir = root
	out, err := test.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "TraceEvent says") && !strings.Contains(string(out), "the program says") {
		t.Errorf("the comparisons do not notice it: %v\n%s", err, out)
	}
}
