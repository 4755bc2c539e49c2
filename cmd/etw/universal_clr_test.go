package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/generated/universal"
	"github.com/etwgen/etwgen/generated/universal/events"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/trace"
)

// A universalTrace is written as a recorder of Linux does that also has the events of a
// runtime: no recording with both was at hand.
type universalTrace struct {
	t     *testing.T
	w     *nettrace.Writer
	clock *etw.Clock
	pid   int64
	last  int64
}

// write writes an event of the recorder.
func (u *universalTrace) write(e etw.Event, thread int64, stack ...uint64) {
	u.t.Helper()
	payload := testio.Payload(u.t, e, etw.Ptr64)
	var addresses []byte
	for _, a := range stack {
		addresses = binary.LittleEndian.AppendUint64(addresses, a)
	}
	d := e.EventDesc()
	if err := u.w.Write(&etw.Record{
		Provider: d.Provider.GUID, ProviderName: d.Provider.Name, ID: d.ID, Version: d.Version, Level: d.Level, Schema: d,
		PointerSize: etw.Ptr64, ProcessID: u.pid, ThreadID: thread, Timestamp: u.last, Clock: u.clock, Payload: payload,
		Stack: etw.Stack{Addresses: addresses, PtrSize: etw.Ptr64},
	}); err != nil {
		u.t.Fatal(err)
	}
}

// A place is where code of a name is.
type place struct {
	at   uint64
	name string
}

// writeUniversal writes the events of a trace of EventPipe to a universal one, with a
// process, a file in its memory, a sample in one of its methods and one in that file.
func writeUniversal(t *testing.T, path string) (universalPath string, method place) {
	t.Helper()
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	r := f.Files()[0].Reader().(*nettrace.Reader)
	h := r.Header()
	u := &universalTrace{t: t, pid: h.ProcessID, clock: &h.Clock, last: h.Clock.Origin}
	h.Version, h.ProcessID = 6, -1
	var out bytes.Buffer
	var err error
	if u.w, err = nettrace.NewWriter(&out, h); err != nil {
		t.Fatal(err)
	}
	u.write(&universal.ExistingProcess{NamespaceProcessID: uint64(u.pid), Name: etw.ANSI("program"), NamespaceName: etw.ANSI("Unknown")}, 0)
	u.write(&universal.ProcessMapping{ID: 1, StartAddress: 0x10000, EndAddress: 0x1ffff, FileName: etw.ANSI("/opt/libnative.so"), HasSymbolMetadata: true, HasVersionMetadata: true}, 0)
	u.write(&universal.ProcessSymbol{ID: 1, MappingID: 1, StartAddress: 0x10100, EndAddress: 0x101ff, Name: etw.ANSI("native_function")}, 0)
	var mux etw.Mux
	take := func(at uint64, namespace, name etw.UTF16) {
		if method.at == 0 && name.String() != "" && !strings.Contains(namespace.String(), "dynamicClass") {
			method = place{at, namespace.String() + "." + name.String()}
		}
	}
	etw.Handle(&mux, func(_ *etw.Record, e *clr.AnyMethodLoadVerbose) error {
		take(e.MethodStartAddress, e.MethodNamespace, e.MethodName)
		return nil
	})
	etw.Handle(&mux, func(_ *etw.Record, e *rundown.AnyMethodDCEndVerbose) error {
		take(e.MethodStartAddress, e.MethodNamespace, e.MethodName)
		return nil
	})
	for rec := range testio.Records(t, f.Records()) {
		u.last = max(u.last, rec.Timestamp)
		if err := cmp.Or(u.w.WriteFrom(rec, r.Origin()), mux.Dispatch(rec)); err != nil {
			t.Fatal(err)
		}
	}
	u.write(&events.CPU{Value: 1}, u.pid, method.at, 0x10104)
	if err := u.w.Close(); err != nil {
		t.Fatal(err)
	}
	universalPath = filepath.Join(t.TempDir(), "universal-"+filepath.Base(path))
	testio.Write(t, universalPath, out.Bytes())
	return universalPath, method
}

// answerOf reads an answer, without its parts on the trace and the next question.
func answerOf(t *testing.T, text string) (answer map[string]any) {
	t.Helper()
	testio.JSON(t, text, &answer)
	delete(answer, "trace")
	delete(answer, "next")
	return answer
}

// TestUniversalCLR answers from the events of a runtime in universal traces as from those
// of EventPipe, and names samples of the recorder by them.
func TestUniversalCLR(t *testing.T) {
	output := func(args ...string) string {
		t.Helper()
		var out, trouble bytes.Buffer
		if code := run(args, nil, &out, &trouble); code != 0 && code != cli.ExitNone {
			t.Errorf("%q: exit code %d: %s", args, code, trouble.String())
		}
		return out.String()
	}
	for _, c := range []struct {
		trace    string
		commands []string
	}{
		{"gc.nettrace", []string{"gc", "allocs"}},
		{"jit.nettrace", []string{"jit", "startup"}},
		{"exceptions.nettrace", []string{"exceptions", "waits --locks", "threadpool"}},
		{"rundown.nettrace", nil},
	} {
		path := filepath.Join("..", "..", "tests", "recorded", c.trace)
		universal, method := writeUniversal(t, path)
		for _, command := range c.commands {
			args := append(strings.Fields(command), "--format", "json")
			want, got := answerOf(t, output(append(args, path)...)), answerOf(t, output(append(args, universal)...))
			for _, answer := range []map[string]any{want, got} { // how long one process was recorded, of many is not known
				runtimes, _ := answer["runtimes"].([]any)
				for _, rt := range runtimes {
					delete(rt.(map[string]any), "spanMs")
					delete(rt.(map[string]any), "pausePercent")
				}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%.2000s", command, c.trace, diff)
			}
		}
		text := output("top", "--format", "json", "--of", "cpu", "--no-symbols", universal)
		for _, name := range []string{method.name, "libnative.so!native_function"} {
			if method.at != 0 && !strings.Contains(text, name) {
				t.Errorf("%s: %q is not in %s", c.trace, name, text)
			}
		}
		if by := output("symbols", "--of", "cpu", "--by", "source", "--no-symbols", universal); !strings.Contains(by, "the recorder") || method.at != 0 && strings.Contains(by, "unknown") {
			t.Errorf("%s: sources\n%s", c.trace, by)
		}
	}
}
