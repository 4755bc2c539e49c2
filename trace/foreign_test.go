package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestForeign opens files that begin as those of other worlds, each as it is, packed by gzip
// and from a pipe: they are named.
func TestForeign(t *testing.T) {
	elf := func(kind byte) string {
		return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + string(kind) + "\x00"
	}
	for begin, want := range map[string]string{
		elf(4):                             "a core dump of Linux",
		elf(3):                             "a program or library of Linux",
		"\xcf\xfa\xed\xfe\x07\x00\x00\x01": "Mach-O",
		"MDMP\x93\xa7":                     "a minidump",
		"PAGEDU64":                         "a crash dump",
		"MZ\x90" + strings.Repeat("\x00", 0x39) + "\x80\x00\x00\x00": "(PE)",
		"BSJB\x01\x00\x01\x00":                     "a portable PDB",
		"Microsoft C/C++ MSF 7.00\r\n\x1aDS":       "a PDB of native code",
		"SQLite format 3\x00":                      "SQLite",
		"\xd4\xc3\xb2\xa1\x02\x00\x04\x00":         "(pcap)",
		"\n\r\r\n\x1c\x00\x00\x00\x4d\x3c\x2b\x1a": "(pcapng)",
		"\x14\x00\x00\x00!FastSerialization.1\x04\x04\x01\x4b\x00\x00\x00\x4a\x00\x00\x00\x2b\x00\x00\x00Microsoft.Diagnostics.Tracing.Etlx.TraceLog": ".etlx",
		"FLR\x00\x00\x02":           "(.jfr)",
		"go 1.26 trace\x00\x00\x00": "the scheduler of Go",
		"\x57\x1d\xd1\x75\x00":      "(CTF)",
		"PAR1\x15":                  "Parquet",
		"\xfd7zXZ\x00\x00":          "packed by xz",
		"\x28\xb5\x2f\xfd\x24":      "packed by zstd",
		"BZh91AY&SY":                "packed by bzip2",
		"MSCF\x00\x00\x00\x00":      "a cabinet",
		"<?xml version=\"1.0\"?>":   "etwgen check",
		"\xef\xbb\xbf<instrumentationManifest xmlns=\"\">": "etwgen check",
		"<!-- a manifest -->":                              "etwgen check",
		"<!DOCTYPE html>":                                  "a page of HTML",
	} {
		data := []byte(begin + strings.Repeat("\x00", 200))
		for _, x := range []struct {
			how  string
			data []byte
			from string
		}{{"file", data, ""}, {"short file", []byte(begin), ""}, {"gzip", gzipped(data), ""}, {"pipe", data, Stdin}} {
			from := x.from
			if from == "" {
				from = write(t, "file", x.data)
			}
			_, err := OpenFiles(from, WithStdin(bytes.NewReader(x.data)))
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "it is no trace, but ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%.12q as %s: %v, want %s", begin, x.how, err, want)
			}
		}
	}
	for _, begin := range []string{"hello world\n", "MZ is no program", "<", "a;b;c 12\n", "", "go 1.26\n"} {
		if f := foreignOf([]byte(begin)); f != nil {
			t.Errorf("%q is said to be %s", begin, f.is)
		}
	}
}

// An archive of perfcollect has one recording in several forms, of which the best is read, and
// the events of LTTng beside it. Of streams without metadata it is said that they are not read.
func TestCollected(t *testing.T) {
	pipe := append([]byte("PERFILE2\x10"), make([]byte, 7)...)
	text := []byte("shop 7/8 [001] 92.5: 250 cpu-clock: \n\t401 main (/bin/x)\n\n")
	stream := []byte("\xc1\x1f\xfc\xc1\x00\x00\x00\x00")
	for _, x := range []struct {
		files      []any
		want, lost string
	}{
		{[]any{"x.trace/perf.data.txt", text, "x.trace/perf-7.map", []byte("401 1 f")}, "perf script", ""},
		{[]any{"x.trace/perf.data.txt", text, "x.trace/perf-jit.data", pipe}, "perf.data (pipe)", ""},
		{[]any{"x.trace/perf-jit.data", pipe, "x.trace/perf.data", pipe, "x.trace/perf-7.map", []byte("401 1 f")}, "perf.data (pipe)", ""},
		{[]any{"a.txt", text, "x.trace/perf.data.txt", text, "lttngTrace/ust/channel0", stream, "lttngTrace/ust/channel1", stream}, "perf script", "lttngTrace/ust/channel0: it is no trace, but a stream of a trace of LTTng (CTF)"},
	} {
		files, err := OpenFiles(write(t, "x.trace.zip", zipped(x.files...)))
		if err != nil || len(files) != 1 || files[0].Format() != x.want {
			t.Errorf("%s: %v, %v", x.files[0], files, err)
			continue
		}
		if _, errs := ids(files[0].Next); fmt.Sprint(errs) == "[]" != (x.lost == "") || !strings.Contains(fmt.Sprint(errs), x.lost) || strings.Contains(fmt.Sprint(errs), "more") {
			t.Errorf("%s: %v", x.files[0], errs)
		}
		files[0].Close()
	}
	if _, err := OpenFiles(write(t, "x.trace.zip", zipped("lttngTrace/ust/channel0", stream))); err == nil || !strings.Contains(err.Error(), "LTTng") {
		t.Error(err)
	}
}

// In an archive files of other worlds stand beside traces, and are left alone.
func TestForeignInArchive(t *testing.T) {
	net := netTrace(sessionStart, 1)
	path := write(t, "x.diagsession", zipped("[Content_Types].xml", []byte("<?xml version=\"1.0\"?><Types/>"), "metadata.xml", []byte("<Package/>"),
		"a.nettrace", net, "a.dmp", []byte("MDMP\x93\xa7"), "settings.json", []byte("{}")))
	files, err := OpenFiles(path)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	defer files[0].Close()
	if got, errs := ids(files[0].Next); len(got) != 1 || len(errs) > 0 {
		t.Errorf("events %v, errors %v", got, errs)
	}
	for _, f := range files[0].Facts() {
		if f.Key == "packing" && f.Text != "diagsession of Visual Studio" {
			t.Errorf("packing: %s", f.Text)
		}
	}
}

// TestEventless: a program that reads events alone is told of a profile, packed or not, which
// others open.
func TestEventless(t *testing.T) {
	folded := []byte("main;work 12\nmain;wait 3\n")
	for _, data := range [][]byte{folded, gzipped(folded)} {
		path := write(t, "cpu.folded", data)
		if all, err := Open(path); err != nil || len(all.Profiles()) != 1 {
			t.Errorf("Open: %v", err)
		}
		_, opened := OpenEvents([]string{path})
		_, read := ReadEvents(path, io.NopCloser(bytes.NewReader(data)))
		for _, err := range []error{opened, read} {
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path+": it is no trace, but at most a profile") {
				t.Errorf("without profiles: %v", err)
			}
		}
	}
}
