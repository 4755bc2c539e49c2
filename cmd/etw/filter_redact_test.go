package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
	"github.com/etwgen/etwgen/trace"
)

// redacted filters a trace that has secrets in several places, and returns the output.
func redacted(t *testing.T, name string, data []byte, args ...string) (path, said string, code int) {
	t.Helper()
	in := filepath.Join(t.TempDir(), name)
	path = filepath.Join(t.TempDir(), name)
	testio.Write(t, in, data)
	said, code = filtered(append([]string{in, "-o", path}, args...)...)
	return path, said, code
}

// contains reports whether a file has a text, of bytes or UTF-16.
func contains(t *testing.T, path, text string) bool {
	t.Helper()
	data := testio.Read(t, path)
	return bytes.Contains(data, []byte(text)) || bytes.Contains(data, etw.AppendUTF16(nil, text))
}

// TestRedactSession redacts events of an .etl file that are about the session, and items
// beside events. Such events that nothing describes are left out.
func TestRedactSession(t *testing.T) {
	session := new(kernel.AnyEventTraceBuildInfo).EventDesc().Class
	sid := append([]byte{1, 2, 0, 0, 0, 0, 0, 5}, "ABCDEFGH"...)
	build := []byte("19041.secret\x00")
	data, err := etltest.File(etltest.DefaultHeader(),
		&etw.Record{Kind: etw.KindClassic, Provider: session, Opcode: 66, Version: 2, PointerSize: etw.Ptr64, Payload: build},
		&etw.Record{Kind: etw.KindClassic, Provider: session, Opcode: 200, Version: 2, PointerSize: etw.Ptr64, Payload: []byte("unknown secret")},
		&etw.Record{Kind: etw.KindManifest, Provider: clr.Provider.Desc.GUID, ID: 10, PointerSize: etw.Ptr64, ProcessID: 7,
			Extended: []etw.ExtendedItem{{Type: etw.ExtSID, Data: sid}, {Type: etw.ExtContainerID, Data: []byte("container-secret")}}})
	if err != nil {
		t.Fatal(err)
	}
	path, said, code := redacted(t, "s.etl", data, "--redact", "BuildString,UserSID,ContainerID")
	if code != cli.ExitTrouble || !strings.Contains(said, "1 event was left out: nothing describes") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, secret := range []string{"secret", "ABCDEFGH"} {
		if contains(t, path, secret) {
			t.Errorf("%q is there", secret)
		}
	}
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	n := 0
	for r := range testio.Records(t, f.Records()) {
		if r.Kind == etw.KindManifest {
			n++
			if len(r.Extended) != 2 || !bytes.Equal(r.Extended[0].Data[:8], sid[:8]) || len(r.Extended[1].Data) != len("container-secret") {
				t.Errorf("%v", r.Extended)
			}
		} else if r.Opcode == 66 && len(r.Payload) == len(build) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d of 2 events", n)
	}
	if path, _, _ := redacted(t, "k.etl", data, "--redact", "BuildString"); !contains(t, path, "container-secret") || !contains(t, path, "ABCDEFGH") {
		t.Error("more is redacted than was asked for")
	}
}

// TestRedactKeys redacts texts of .nettrace 6 that are in no field: keys of the header and
// of threads, names of threads, and labels.
func TestRedactKeys(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{Keys: [][2]string{{"HardwareThreadCount", "4"}, {"HostName", "host-secret"}, {"Other", "other"}}})
	w.Metadata(nettracetest.Row{ID: 1, Provider: "Acme", EventID: 1, Name: "Made"})
	w.Threads(nettracetest.Thread{Index: 1, Name: "thread-secret", ProcessID: 7, ThreadID: 8, Keys: [][2]string{{"User", "user-secret"}}})
	w.Labels(1, []nettracetest.Label{{Kind: 5, Key: "Token", Text: "token-secret"}, {Kind: 6, Key: "Count", Value: 0x736563726574}, {Kind: 5, Key: "Open", Text: "open"}})
	w.Events(nettracetest.Event{Metadata: 1, Time: 1e6, Thread: 1, Labels: 1, SortPoint: true}, nettracetest.Event{Metadata: 1, Time: 2e6, Thread: 1, Labels: 1})
	w.End()
	path, said, code := redacted(t, "k.nettrace", w.Bytes(), "--redact", "HostName,ThreadName,User,Token,Count", "--redact-as", "blank")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, said)
	}
	for _, secret := range []string{"secret", "\x00terces"} {
		if contains(t, path, secret) {
			t.Errorf("%q is there", secret)
		}
	}
	f := testio.Open(t, trace.Open, path)
	defer f.Close()
	r := f.Files()[0].Reader().(*nettrace.Reader)
	for rec := range testio.Records(t, f.Records()) {
		row := r.Origin().Thread
		if row.Name != strings.Repeat("*", 13) || row.ProcessID != 7 || row.Keys[0] != (nettrace.KeyValue{Key: "User", Value: "***********"}) {
			t.Errorf("thread %+v", row)
		}
		for i, want := range []any{"************", int64(0), "open"} {
			if _, got, ok := nettrace.ParseLabel(rec.Extended[i]); !ok || got != want {
				t.Errorf("label %d is %v, want %v", i, got, want)
			}
		}
	}
	h := r.Header()
	if h.Processors != 4 || h.Keys[1].Value != "***********" || h.Keys[2].Value != "other" {
		t.Errorf("header %+v", h.Keys)
	}
}
