package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// lttng has the metadata of a trace, and lttngStream a stream of it with two events.
const (
	lttng = `/* CTF 1.8 */
typealias integer { size = 32; align = 8; } := uint32_t;
trace { byte_order = le; packet.header := struct { uint32_t magic; }; };
env { hostname = "there"; domain = "ust"; tracer_name = "lttng-ust"; tracer_major = 2; tracer_minor = 13; };
clock { name = c; freq = 1000000; offset_s = 1600000000; };
stream { packet.context := struct { uint32_t events_discarded; };
	event.header := struct { uint32_t id; integer { size = 32; align = 8; map = clock.c.value; } timestamp; }; };
event { name = "DotNETRuntime:GCRestartEEEnd_V1"; id = 1; fields := struct { integer { size = 16; align = 8; } _ClrInstanceID; }; };
event { name = "app:said"; id = 2; fields := struct { string text; }; };
`
	lttngStream = "\xc1\x1f\xfc\xc1\x05\x00\x00\x00" + "\x01\x00\x00\x00\x07\x00\x00\x00\x09\x00" + "\x02\x00\x00\x00\x09\x00\x00\x00hi\x00"
)

// A trace of LTTng opens as a folder, by its metadata, and in an archive.
func TestLTTng(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "x.trace", "ust", "64-bit")
	if err := os.MkdirAll(filepath.Join(in, "index"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"metadata": lttng, "channel0": lttngStream, "index/channel0.idx": "\xc1\xf1\xdc\xc1"} {
		testio.Write(t, filepath.Join(in, name), []byte(text))
	}
	archive := write(t, "x.trace.zip", zipped("x.trace/ust/metadata", []byte(lttng), "x.trace/ust/channel0", []byte(lttngStream)))
	for _, path := range []string{dir, in, filepath.Join(in, "metadata"), archive} {
		x, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var got []string
		for rec, err := range x.Records() {
			if err != nil {
				t.Error(err)
				break
			}
			got = append(got, rec.Time().UTC().Format("2006-01-02 15:04:05.000000 ")+rec.ProviderName)
		}
		want := "2020-09-13 12:26:40.000007 Microsoft-Windows-DotNETRuntime|2020-09-13 12:26:40.000009 app"
		if strings.Join(got, "|") != want || x.Stats().Lost != 5 || x.Stats().Undecodable != 0 {
			t.Errorf("%s: %q, %+v", path, got, x.Stats())
		}
		var text []string
		for _, f := range x.Files()[0].Facts() {
			text = append(text, f.Key+" "+f.Text)
		}
		if all := strings.Join(text, "\n"); !strings.Contains(all, "machine there") || !strings.Contains(all, "recorder lttng-ust 2.13") {
			t.Errorf("%s: %s", path, all)
		}
		x.Close()
	}
	if _, err := Open(filepath.Join(in, "channel0")); err == nil || !strings.Contains(err.Error(), "give the folder") {
		t.Errorf("a stream: %v", err)
	}
	bad := write(t, "x.trace.zip", zipped("x.trace/ust/metadata", []byte("/* CTF 1.8 */ trace {"), "x.trace/ust/channel0", []byte(lttngStream)))
	if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), "line 1 of the metadata") {
		t.Errorf("metadata that are cut: %v", err)
	}
}

// The parts of an archive of perfcollect have one time, also if one has no events.
func TestLTTngParts(t *testing.T) {
	for name, want := range map[string]int64{"clr-only.trace.zip": 32762, "kernel-only.trace.zip": 109, "netcoreapp31.trace.zip": 66, "validation_004.zip": 73} {
		x := testio.Open(t, Open, corpus.File(t, "recordings", "ctf", name))
		for rec := range testio.Records(t, x.Records()) {
			if at := x.Elapsed(rec); at < 0 || at.Hours() > 1 {
				t.Fatalf("%s: an event at %v", name, at)
			}
		}
		if s := x.Stats(); s.Records != want || s.Undecodable != 0 {
			t.Errorf("%s: %+v, want %d events", name, s, want)
		}
		x.Close()
	}
}
