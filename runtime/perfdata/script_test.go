package perfdata

import (
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// open returns a Reader of a file.
func open(t testing.TB, path string) *Reader {
	t.Helper()
	f := testio.File(t, path)
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// samples returns the samples that a Reader delivers, as perf script prints them: process,
// thread, time, event and stack.
func samples(t testing.TB, r *Reader) (list []string) {
	t.Helper()
	var rec etw.Record
	for {
		err := r.Next(&rec)
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		var name string
		switch {
		case rec.ProviderName == "Universal.System":
			continue
		case rec.Schema.Name == "cpu" && rec.ProviderName == "Universal.Events":
			name = r.clockEvent().title()
		case rec.Schema.Name == "soft_page_fault":
			name = "minor-faults"
		case rec.Schema.Name == "hard_page_fault":
			name = "major-faults"
		case rec.ProviderName == "perf":
			name = rec.Schema.Name
		case rec.Schema.Name == "cswitch":
			continue
		default:
			name = rec.ProviderName + ":" + rec.Schema.Name
		}
		line := fmt.Sprintf("%d/%d %d.%09d %s", rec.ProcessID, rec.ThreadID, rec.Timestamp/1e9, rec.Timestamp%1e9, name)
		for i := range rec.Stack.Len() {
			line += fmt.Sprintf(" %x", rec.Stack.At(i))
		}
		list = append(list, line)
	}
}

// The output of perf script -D for a sample: its header, the addresses of its stack, and the
// line that perf script prints without -D.
var (
	dumpedSample = regexp.MustCompile(`^(?:\d+ )?(\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\([^)]*\): +(-?\d+)/(-?\d+): 0x(\w+) period`)
	dumpedFrame  = regexp.MustCompile(`^\.\.\.\.\. *\d+: (\w{16})$`)
	printed      = regexp.MustCompile(`^ *-?\d+/-?\d+ +\d+\.\d+: +(\S+): *$`)
)

// scripted returns the samples that perf script prints.
func scripted(t testing.TB, path string) (list []string) {
	t.Helper()
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not there (apt-get install linux-perf)")
	}
	out, err := exec.Command(perf, "script", "-D", "--ns", "-F", "pid,tid,time,event", "-i", path).Output()
	if err != nil {
		t.Skipf("perf script: %v", err)
	}
	var head, code string
	var frames []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if m := dumpedSample.FindStringSubmatch(line); m != nil {
			ns, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			head, code, frames = fmt.Sprintf("%s/%s %d.%09d ", m[2], m[3], ns/1e9, ns%1e9), m[4], nil
		} else if m := dumpedFrame.FindStringSubmatch(line); m != nil && head != "" {
			if !strings.HasPrefix(m[1], "fffffffffffff") { // a mark of what follows
				frames = append(frames, cmp.Or(strings.TrimLeft(m[1], "0"), "0"))
			}
		} else if m := printed.FindStringSubmatch(line); m != nil && head != "" {
			if frames == nil {
				frames = []string{code}
			}
			list = append(list, head+m[1]+" "+strings.Join(frames, " "))
			head = ""
		}
	}
	return list
}

// noStacks leaves stacks out of a comparison.
const noStacks = "stacks"

// compare holds the records of a Reader against the output of perf script.
func compare(t *testing.T, path string, but ...string) {
	t.Helper()
	want := scripted(t, path)
	got := samples(t, open(t, path))
	keep := func(line string) bool {
		return slices.ContainsFunc(but, func(name string) bool { return strings.Contains(line, " "+name) })
	}
	want = slices.DeleteFunc(want, keep)
	if slices.Contains(but, noStacks) {
		for _, list := range [][]string{want, got} {
			for i, line := range list {
				list[i] = strings.Join(strings.Fields(line)[:3], " ")
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) == 0 {
		t.Errorf("%s: perf script prints no samples", path)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-perf script +got):\n%.3000s", path, diff)
	}
	t.Logf("%s: %d samples", filepath.Base(path), len(got))
}

// Each sample of the corpus is that of perf script, but for the file that this version of perf
// does not open, which another test holds.
func TestScriptOfCorpus(t *testing.T) {
	for _, name := range []string{"perf-6.1-compressed.data", "perf-6.1-cpu-clock-fp.data"} {
		t.Run(name, func(t *testing.T) { compare(t, corpus.File(t, "recordings/perfdata", name)) })
	}
}

// Each sample of a recording of today's perf is that of perf script, in every form that it writes.
func TestScriptOfNow(t *testing.T) {
	perf, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not there (apt-get install linux-perf)")
	}
	n := 0
	for name, args := range map[string]string{
		"plain":    "-e cpu-clock",
		"stacks":   "-e cpu-clock -F 2000 -g",
		"packed":   "-e cpu-clock -F 20000 -g -z",
		"packed19": "-e task-clock -F 20000 -g --compression-level=19",
		"pipe":     "-e cpu-clock -g -o -",
		"events":   "-e cpu-clock,page-faults,minor-faults,major-faults -c 500000 -g -k 1 -d",
		"switches": "-e cpu-clock -c 500000 -e context-switches -c 1 --switch-events -g -k CLOCK_MONOTONIC",
		"dwarf":    "-e cpu-clock --call-graph dwarf,256",
		"kernel":   "-e sched:sched_switch,sched:sched_process_exec,sched:sched_process_fork -g",
		"kernels":  "-e sched:sched_switch -e sched:sched_process_exec -o -",
		"group":    "-e {cpu-clock,page-faults}:S -g --sample-cpu",
		"build":    "-e cpu-clock -g --buildid-mmap",
	} {
		if n++; n > 2 && !corpus.All() { // two of them, whichever come first
			break
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "perf.data")
			words := append([]string{"record", "-q", "-o", path}, strings.Fields(args)...)
			cmd := exec.Command(perf, append(words, "--", "sh", "-c", "ls -R /usr/lib/x86_64-linux-gnu /etc >/dev/null; ls >/dev/null")...)
			out, err := cmd.Output() // of a pipe that is the file
			if err != nil {
				t.Skipf("perf does not record here: %v", err)
			}
			if len(out) > 0 {
				testio.Write(t, path, out)
			}
			but := []string{"context-switches"}
			if name == "dwarf" { // which perf script has unwound
				but = append(but, noStacks)
			}
			compare(t, path, but...)
		})
	}
}
