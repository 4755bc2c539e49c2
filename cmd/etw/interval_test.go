package main

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// seldomTrace has a sample of each of two processors every 250 µs, of which no event tells that they are
// so far apart: on the second one threads 201 and 202 of process 200 take turns with process 100.
func seldomTrace(t *testing.T) string {
	var k kernelLog
	threads := map[uint32][]uint32{100: {101}, 200: {201, 202}}
	for pid, list := range threads {
		k.log(0, -1, -1, 0, &kernel.ProcessDCStartV4{ProcessID: pid, UserSID: etw.TokenUser{User: 1, SID: etw.SID{1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0}}, ImageFileName: etw.ANSI("app.exe")})
		for _, tid := range list {
			k.log(0, -1, -1, 0, &kernel.ThreadDCStartV3{ProcessID: pid, TThreadID: tid})
		}
	}
	turns := []uint32{201, 101, 202, 101}
	for n := range 400 {
		ms := 1 + .25*float64(n)
		k.log(ms, -1, -1, 0, &kernel.PerfInfoSampleV2{ThreadID: 101, InstructionPointer: 0x140001000, Count: 1})
		k.log(ms, -1, -1, 1, &kernel.PerfInfoSampleV2{ThreadID: turns[n%len(turns)], InstructionPointer: 0x140001000, Count: 1})
	}
	return k.file(t)
}

// file writes the records as the kernel does: those without a thread in their headers have none there.
func (k *kernelLog) file(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w, err := etltest.NewWriter(&out, header())
	for _, r := range k.records {
		form := etltest.FormSystem
		if sample, change := (*kernel.PerfInfoSampleV2)(nil).EventDesc(), (*kernel.ThreadCSwitchV4)(nil).EventDesc(); r.Provider == sample.Class || r.Provider == change.Class && r.Opcode == change.Opcode {
			form = etltest.FormPerfInfo
		}
		err = cmp.Or(err, w.WriteAs(form, r))
	}
	path := filepath.Join(t.TempDir(), "machine.etl")
	if err = cmp.Or(k.err, err, w.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestInterval: how far samples are apart is told by those of all threads, of whichever the answer is, also
// of a part that has no others.
func TestInterval(t *testing.T) {
	path, commands := seldomTrace(t), []string{"top", "flame", "timeline", "report"}
	for flags, ms := range map[string]string{"--process 200": "50", "--tid 201": "25", "--process 200 --from 51ms": "25", "--process 200 --tid 202 --to 51ms": "12.5"} {
		part := filepath.Join(t.TempDir(), "part.etl")
		if said, code := filtered(append(strings.Fields(flags), "-o", part, path)...); code != 0 {
			t.Fatal(said)
		}
		again := filepath.Join(t.TempDir(), "again.etl")
		if said, code := filtered("--process", "200", "-o", again, part); code != 0 {
			t.Fatal(said)
		}
		for _, x := range [][]string{append(strings.Fields(flags), path), {part}, {again}} {
			if out, _, _ := output(append([]string{"tree", "--format", "json"}, x...)...); !strings.Contains(out, `"totalMs":`+ms+`,`) || !strings.Contains(out, "0.250 ms apart") {
				t.Errorf("%s: not %s ms in all:\n%s", x, ms, out)
			}
		}
		also := []string{"tree", "processes", "compare"}
		if strings.Contains(flags, "--tid") { // which these are not of
			also = nil
		}
		for _, name := range append(also, commands...) {
			want, _, _ := partAnswer(name, path, strings.Fields(flags)...)
			if got, said, _ := partAnswer(name, part); got != want {
				t.Errorf("%s %s: %s\n%.900s\nof the whole\n%.900s", name, flags, said, got, want)
			}
		}
	}
}
