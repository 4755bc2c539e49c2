package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
	"github.com/etwgen/etwgen/tests/corpus"
)

// told returns the records that a Reader delivers, and the error at the end.
func told(r *Reader) (list []string, err error) {
	d := etw.NewDecoder()
	for {
		var rec etw.Record
		if err = r.Next(&rec); err != nil {
			break
		}
		text := "?"
		if v, err := d.Decode(&rec); err == nil && v != nil {
			text = string(etw.AppendText(nil, v))
		}
		line := fmt.Sprintf("%d %d/%d on %d %s/%s", rec.Timestamp-1_000_000_000, rec.ProcessID, rec.ThreadID, rec.Processor, rec.ProviderName, text)
		for i := range rec.Stack.Len() {
			line += fmt.Sprintf(" %x", rec.Stack.At(i))
		}
		list = append(list, line)
	}
	if err == io.EOF {
		err = nil
	}
	return list, err
}

// want is the contents of test files.
var want = []string{
	"300 7/0 on 1 Universal.System/ExistingProcess NamespaceProcessId=7 Name=baker NamespaceName=Unknown",
	`300 7/0 on 1 Universal.System/ProcessMappingMetadata Id=1 SymbolMetadata="{\"type\":\"ELF\",\"build_id\":\"6275696c64\"}" VersionMetadata=""`,
	`300 7/0 on 1 Universal.System/ProcessMapping Id=1 StartAddress=0x400000 EndAddress=0x410000 FileOffset=0x0 FileName=/bin/baker MetadataId=1 SymbolMetadata="" VersionMetadata=""`,
	"300 7/8 on 1 Universal.Events/cpu Value=1 ffffffff81000010 401000 402000",
	"400 7/8 on 1 Universal.Events/cpu Value=1 401000",
	"500 7/8 on 1 Universal.Events/cpu Value=1 401000",
	"600 7/8 on 1 Universal.Events/cswitch Value=90",
	"700 7/8 on 1 bakery/bread_baked common_type=77 common_flags=1 common_preempt_count=0 common_pid=8 kind=rye sizes=[500 750] label=warm warmth=-5 401000",
	"900 7/8 on 1 perf/cache-misses Value=250000 401000",
	`950 7/0 on 1 Universal.System/ProcessMappingMetadata Id=2 SymbolMetadata="{\"type\":\"ELF\",\"build_id\":\"abababababababababababababababababababab\"}" VersionMetadata=""`,
	`950 7/0 on 1 Universal.System/ProcessMapping Id=2 StartAddress=0x500000 EndAddress=0x501000 FileOffset=0x0 FileName=/lib/a.so MetadataId=2 SymbolMetadata="" VersionMetadata=""`,
	"1000 7/0 on 1 Universal.System/ProcessExit",
	`1000 7/0 on -1 Universal.System/ProcessMapping Id=3 StartAddress=0xffff800000000000 EndAddress=0xffffffffffffffff FileOffset=0x0 FileName=vmlinux MetadataId=0 SymbolMetadata="" VersionMetadata=""`,
	"1000 7/0 on -1 Universal.System/ProcessSymbol Id=1 MappingId=0 StartAddress=0xffffffff81000000 EndAddress=0xffffffff810000ff Name=do_work",
}

// forms are the test file in all forms that there are.
func forms(t testing.TB) map[string][]byte {
	all := make(map[string][]byte)
	for name, order := range map[string]binary.ByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		m := &maker{order: order}
		all[name+"-endian file"] = m.file(m.records()...)
		all[name+"-endian pipe"] = m.pipe(m.records()...)
		all[name+"-endian packed file"] = m.file(m.pack(t, m.records()...)...)
		all[name+"-endian packed pipe"] = m.pipe(m.pack(t, m.records()...)...)
	}
	return all
}

// Whatever the form of a file, it tells the same.
func TestForms(t *testing.T) {
	for name, file := range forms(t) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := told(r)
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		h := r.Header()
		if start := h.Clock.Start.Time(); h.Host != "bakery" || h.Release != "6.1" || h.Perf != "6.1.99" || h.Arch != "x86_64" || h.Processors != 4 || !h.Dated ||
			strings.Join(h.CommandLine, " ") != "perf record" || strings.Join(h.Events, " ") != "cpu-clock bakery:bread_baked cache-misses" ||
			h.SamplingInterval != 250*time.Microsecond || !start.Equal(time.Unix(1_700_000_000, 300)) || h.BigEndian != strings.HasPrefix(name, "big") ||
			h.Pipe != strings.HasSuffix(name, "pipe") || h.Packed != strings.Contains(name, "packed") {
			t.Errorf("%s: %v %+v", name, start, h)
		}
		if s := r.Stats(); s.Records != int64(len(want)) || s.Samples != 5 || s.Lost != 12 || s.Undecodable+s.OutOfOrder+s.NotUnwound != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A map of what a process compiled gives names, the last ones; one that cannot be read costs these.
func TestMap(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	file := m.file(m.records()...)
	for text, wantErr := range map[string]string{
		"401000 10 stub\n402000 20 old\nnonsense\n402000 30 void [Shop] Oven::Bake()[Tier0]\n": "",
		"": "perf-7.map: no map",
	} {
		opened := func() (io.ReadCloser, error) {
			if text == "" {
				return nil, errors.New("no map")
			}
			return io.NopCloser(strings.NewReader(text)), nil
		}
		r := testio.ReaderAt(t, NewReader, file, WithMap(7, opened), WithMap(99, func() (io.ReadCloser, error) { return nil, errors.New("of another process") }))
		got, err := told(r)
		all := slices.Clone(want)
		if wantErr == "" {
			all = append(all, "1000 7/0 on -1 Universal.System/ProcessSymbol Id=2 MappingId=0 StartAddress=0x401000 EndAddress=0x40100f Name=stub",
				`1000 7/0 on -1 Universal.System/ProcessSymbol Id=3 MappingId=0 StartAddress=0x402000 EndAddress=0x40202f Name="void [Shop] Oven::Bake()[Tier0]"`)
		}
		if diff := gocmp.Diff(all, got); diff != "" || (wantErr == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// stride is how far apart the places are that a test damages.
func stride() int {
	if corpus.All() {
		return 3 // a damaged head can claim a window of many megabytes, which takes time to clear
	}
	return 13
}

// A file that is cut delivers the part before the cut, and says that there should be more.
func TestCuts(t *testing.T) {
	step := stride()
	for name, file := range forms(t) {
		whole := 0
		for n := 0; n < len(file); n += step {
			r, err := NewReader(bytes.NewReader(file), int64(n))
			if err != nil {
				continue
			}
			got, err := told(r)
			if err != nil && !errors.Is(err, etw.ErrIncomplete) {
				t.Fatalf("%s, cut to %d bytes: %v", name, n, err)
			}
			if len(got) > len(want) {
				t.Fatalf("%s, cut to %d bytes: %d records", name, n, len(got))
			}
			whole = max(whole, len(got))
		}
		least := len(want) - 3
		if strings.Contains(name, "packed") { // where the second of two blocks is cut
			least = 5
		}
		if whole < least {
			t.Errorf("%s: at most %d records before a cut", name, whole)
		}
	}
}

// Whichever byte is wrong, there is an end.
func TestFlips(t *testing.T) {
	step := stride()
	for name, file := range forms(t) {
		for i := 0; i < len(file); i += step {
			bad := slices.Clone(file)
			bad[i] ^= 0xff
			r, err := NewReader(bytes.NewReader(bad), int64(len(bad)))
			if err != nil {
				continue
			}
			if got, err := told(r); err != nil && !errors.Is(err, etw.ErrIncomplete) || len(got) > 100 {
				t.Fatalf("%s, byte %d: %d records, %v", name, i, len(got), err)
			}
		}
	}
}

// A record that is damaged is counted, and those around it are read.
func TestDamage(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	good := m.sample(testClock, 1_000_000_300, nil, 0x401000)
	short := m.record(perfevent.TypeSample, 0, uint64(testClock), uint64(1))
	for name, file := range map[string][]byte{
		"file":   m.file(good, short, good),
		"packed": m.file(m.pack(t, good, short, good)...),
	} {
		r := testio.ReaderAt(t, NewReader, file)
		got, err := told(r)
		if len(got) != 2 || r.Stats().Undecodable != 1 || !errors.Is(err, etw.ErrIncomplete) || !strings.Contains(err.Error(), "type 9 and 24 bytes") {
			t.Errorf("%s: %d records, %+v, %v", name, len(got), r.Stats(), err)
		}
	}
	endless := m.file(good, []byte{9, 0, 0, 0, 0, 0, 3, 0})
	r := testio.ReaderAt(t, NewReader, endless)
	if got, err := told(r); len(got) != 1 || err == nil || !strings.Contains(err.Error(), "it says that it has 3 bytes") {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// Behind a frame that does not unpack the next one is read.
func TestFrames(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	good := m.sample(testClock, 1_000_000_300, nil, 0x401000)
	first := m.pack(t, good, good, good)
	first[0][8+4] = 0xff // how the frame is made
	file := m.file(append(first, m.pack(t, good, good)...)...)
	r := testio.ReaderAt(t, NewReader, file)
	if got, err := told(r); len(got) != 2 || r.Stats().Undecodable == 0 || !errors.Is(err, etw.ErrIncomplete) {
		t.Errorf("%d records, %+v, %v", len(got), r.Stats(), err)
	}
}

// A file whose recording was killed has no size of its data: all is read, and it is said.
func TestKilled(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	file := m.file(m.records()...)
	size := int64(binary.LittleEndian.Uint64(file[48:]))
	at := int64(binary.LittleEndian.Uint64(file[40:]))
	clear(file[48:56])
	r, err := NewReader(bytes.NewReader(file), at+size)
	if err != nil {
		t.Fatal(err)
	}
	got, err := told(r)
	if err == nil || !strings.Contains(err.Error(), "perf was ended") || len(got) < 10 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// Records that come too late are told, and counted.
func TestLate(t *testing.T) {
	m := &maker{order: binary.LittleEndian}
	var list [][]byte
	for i := range 3 {
		list = append(list, m.sample(testClock, int64(1_000_000_300-100*i), nil), m.record(typeRound, 0))
	}
	file := m.file(list...)
	r := testio.ReaderAt(t, NewReader, file)
	if got, err := told(r); len(got) != 3 || err != nil || r.Stats().OutOfOrder == 0 {
		t.Errorf("%q, %v, %+v", got, err, r.Stats())
	}
}

// Not every file is one.
func TestNoFile(t *testing.T) {
	for _, text := range []string{"", "PERFILE2", "PERFILE1abcdefgh", "PERFILE2\x68\x00\x00\x00\x00\x00\x00\x00", "PERFILE2\x69" + strings.Repeat("\x00", 200)} {
		if _, err := NewReader(strings.NewReader(text), int64(len(text))); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, file := range forms(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		got, err := told(r)
		if err != nil && !errors.Is(err, etw.ErrIncomplete) {
			t.Fatal(err)
		}
		if len(got) > 100*len(b) {
			t.Fatalf("%d records of %d bytes", len(got), len(b))
		}
	})
}
