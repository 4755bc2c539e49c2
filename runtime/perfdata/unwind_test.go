package perfdata

import (
	"cmp"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// unwoundSample is the head of a sample that perf script prints, and unwoundFrame an address.
var (
	unwoundSample = regexp.MustCompile(`^ *(\d+) +(\d+)\.(\d+): *([0-9a-f]*)`)
	unwoundFrame  = regexp.MustCompile(`^\s+([0-9a-f]+)`)
)

// TestUnwound unwinds copies of stacks as perf script does. Perf prints addresses of files, which
// are those of memory in their last twelve bits, and of callers one less,
// and ends where its library gives up: so its stacks mostly are the inner part of these, which end
// where programs begin. In the dynamic loader it leaves frames out.
func TestUnwound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perf.data")
	if out, err := exec.Command("perf", "record", "-q", "-o", path, "-F", "5000", "-e", "cpu-clock:u", "--call-graph", "dwarf,32768", "--",
		"sh", "-c", "ls -lR /usr/lib/x86_64-linux-gnu >/dev/null").CombinedOutput(); err != nil {
		t.Skipf("perf does not record here: %v: %s", err, out)
	}
	out, err := exec.Command("perf", "script", "--no-inline", "--ns", "-F", "tid,time,ip", "-i", path).Output()
	if err != nil {
		t.Skipf("perf script: %v", err)
	}
	want := make(map[string]string)
	var key string
	for line := range strings.Lines(string(out)) {
		if m := unwoundSample.FindStringSubmatch(line); m != nil {
			key = m[1] + " " + m[2] + m[3]
			want[key] = ""
			if m[4] != "" { // of a sample without a stack
				want[key] = " " + m[4][max(0, len(m[4])-3):]
			}
		} else if m := unwoundFrame.FindStringSubmatch(line); m != nil {
			want[key] += " " + m[1][max(0, len(m[1])-3):]
		}
	}
	f := testio.File(t, path)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(f, info.Size(), WithCode(func(c Code) CodeFile {
		if f, err := os.Open(c.Path); err == nil {
			return f
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	same, all, shown := 0, 0, 0
	ends := make(map[string]int)
	for {
		var rec etw.Record
		if err := r.Next(&rec); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if rec.Schema.Name != "cpu" {
			continue
		}
		got := ""
		for i := range rec.Stack.Len() {
			at := strconv.FormatUint(rec.Stack.At(i)-uint64(min(i, 1)), 16)
			got += " " + at[max(0, len(at)-3):]
		}
		all++
		w, ok := want[strconv.Itoa(int(rec.ThreadID))+" "+strconv.FormatInt(rec.Timestamp, 10)]
		if !ok {
			t.Fatalf("perf script has no sample of %d at %d", rec.ThreadID, rec.Timestamp)
		}
		ends[got[max(0, len(got)-3):]]++
		if strings.HasPrefix(got, w) {
			same++
		} else if shown++; shown <= 5 {
			t.Logf("got  %s\nwant %s", got, cmp.Or(w, " nothing"))
		}
	}
	if all == 0 {
		t.Fatal("no samples")
	}
	whole := slices.Max(slices.Collect(maps.Values(ends)))
	t.Logf("%d of %d stacks begin as those of perf script, %d end in the same place; %+v", same, all, whole, r.Stats())
	if same*3 < all*2 || whole*3 < all*2 || r.Stats().NotUnwound*10 > r.Stats().Copies {
		t.Errorf("%d of %d stacks begin as those of perf script, %d end in the same place; %+v", same, all, whole, r.Stats())
	}
}
