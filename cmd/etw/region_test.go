package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// markedTrace has marks at 5, 100, 280 and, again of the second name, 290 ms. Thread 201 runs from 20 to
// 200 ms, thread 301 is ready meanwhile, and thread 101 waits from 205 ms on.
func markedTrace(t *testing.T, marks map[float64]string) string {
	var k kernelLog
	for _, pid := range []uint32{100, 200, 300} {
		k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ProcessID: pid, UserSID: etw.TokenUser{User: 1, SID: etw.SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}}, ImageFileName: etw.ANSI("app.exe")})
		k.log(0, -1, -1, 0, &kernel.ThreadDCStartV3{ProcessID: pid, TThreadID: pid + 1})
	}
	running := uint32(0)
	to := func(ms float64, tid uint32, state kernel.ThreadState) {
		k.log(ms, -1, -1, 0, &kernel.ThreadCSwitchV4{NewThreadID: tid, OldThreadID: running, OldThreadState: state})
		running = tid
	}
	for ms := 5.0; ms <= 310; ms += 5 {
		switch ms {
		case 10:
			to(ms, 301, kernel.ThreadStateReady)
		case 20:
			to(ms, 201, kernel.ThreadStateReady)
		case 200:
			to(ms, 101, kernel.ThreadStateReady)
		case 205:
			to(ms, 301, kernel.ThreadStateWaiting)
		case 250:
			to(ms, 201, kernel.ThreadStateWaiting)
		}
		if text := marks[ms]; text != "" {
			k.log(ms, -1, -1, 0, &kernel.PerfInfoMarkV0{Message: etw.ANSI(text)})
		}
		k.log(ms+.5, -1, -1, 0, &kernel.PerfInfoSampleV2{ThreadID: running, InstructionPointer: 0x140001000, Count: 1})
	}
	return k.file(t)
}

// TestRegions: from one mark up to the next is a time as that of --from and --to, also in a part that
// filter writes.
func TestRegions(t *testing.T) {
	path, dir := markedTrace(t, map[float64]string{5: "phase 1", 100: "phase 2", 280: "end"}), t.TempDir()
	commands := append(askable(), "threads --by thread")
	for during, flags := range map[string]string{"phase 2": "--from 100ms --to 280ms", "phase *": "--from 5ms --to 280ms", "end": "--from 280ms"} {
		for _, name := range commands {
			got, said, code := partAnswer(name, path, "--during", during)
			if want, _, wantCode := partAnswer(name, path, strings.Fields(flags)...); got != want || code != wantCode {
				t.Errorf("%s --during %s: codes %d and %d, %s\n%.900s\nas of %s\n%.900s", name, during, code, wantCode, said, got, flags, want)
			}
		}
		var parts [2][]byte
		for i, chosen := range [][]string{{"--during", during}, strings.Fields(flags)} {
			out := filepath.Join(dir, "part.etl")
			if said, code := filtered(append(chosen, "-o", out, path)...); code != 0 {
				t.Fatal(said)
			}
			parts[i], _ = os.ReadFile(out)
		}
		if string(parts[0]) != string(parts[1]) {
			t.Errorf("filter --during %s writes other bytes than %s", during, flags)
		}
	}
	if out, _, _ := output("threads", "--format", "csv", "--during", "phase 2", path); !strings.Contains(out, "200,app.exe,201,,180,130,") {
		t.Errorf("thread 201 ran for 100 and 30 ms of the 180 of the region:\n%s", out)
	}
	for _, x := range [][2]string{{"--during phase*1 --during end", ""}, {"--during phase*1 --during end --process 200", ""}, {"--process 200", "--during phase*2"}, {"--from 150ms --to 250ms", "--during phase*2"}} {
		part, flags, more := filepath.Join(dir, "part.etl"), strings.Fields(x[0]), strings.Fields(x[1])
		if said, code := filtered(append(flags, "-o", part, path)...); code != 0 {
			t.Fatal(said)
		}
		for _, name := range []string{"top", "threads", "processes", "top --of blocked", "timeline"} {
			want, _, _ := partAnswer(name, path, append(flags, more...)...)
			if got, said, code := partAnswer(name, part, more...); got != want || code != 0 {
				t.Errorf("%s of the part %q %s: code %d, %s\n%.900s\nof the whole\n%.900s", name, x[0], x[1], code, said, got, want)
			}
		}
	}
	text, _, _ := output("threads", "--during", "phase 2", markedTrace(t, map[float64]string{5: "phase 2", 100: "x", 200: "phase 2"}))
	if !strings.Contains(text, "into several regions") {
		t.Errorf("of several regions nothing is said:\n%s", text)
	}
}
