package ctf

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A folder is the files of a trace.
type folder struct {
	metadata []byte
	streams  []File
}

func (f *folder) add(name string, b []byte) {
	if name == "metadata" {
		f.metadata = b
		return
	}
	f.streams = append(f.streams, File{name, bytes.NewReader(b), int64(len(b))})
}

func (f *folder) reader(t testing.TB) *Reader {
	t.Helper()
	r, err := NewReader(append(f.streams, File{Metadata, bytes.NewReader(f.metadata), int64(len(f.metadata))}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// folders returns the traces of an archive, by the names of their folders.
func folders(t testing.TB, archive string) map[string]*folder {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string]*folder{}
	for _, f := range z.File {
		dir, base := path.Split(f.Name)
		if f.FileInfo().IsDir() || strings.HasSuffix(dir, "/index/") || !strings.Contains(dir, "auto-") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if all[dir] == nil {
			all[dir] = &folder{}
		}
		all[dir].add(base, b)
	}
	return all
}

// write puts a trace into a folder of the disk, for other programs.
func (f *folder) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, b []byte) {
		testio.Write(t, filepath.Join(dir, name), b)
	}
	put("metadata", f.metadata)
	for _, s := range f.streams {
		b := make([]byte, s.Size)
		if _, err := s.Data.ReadAt(b, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		put(s.Name, b)
	}
	return dir
}

// babeltrace returns the text that babeltrace2 prints of a trace, a line for each event.
func babeltrace(t testing.TB, dir string) []string {
	t.Helper()
	program, err := exec.LookPath("babeltrace2")
	if err != nil {
		t.Skip("babeltrace2 is not installed")
	}
	cmd := exec.Command(program, "--clock-seconds", "--no-delta", "--names=payload,context", "--fields=", dir)
	var lines, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &lines, &trouble
	if err := cmd.Run(); err != nil {
		t.Fatalf("babeltrace2: %v\n%s", err, trouble.Bytes())
	}
	if lines.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
}

// printed returns the records of a Reader as babeltrace2 prints them.
func printed(t testing.TB, r *Reader) (lines []string) {
	t.Helper()
	host := r.Header().Host
	if host != "" {
		host += " "
	}
	var e etw.Dynamic
	for rec := range testio.Records(t, r.Records()) {
		n, err := e.Decode(rec.Schema, rec.Payload, rec.PointerSize)
		if err != nil || n != len(rec.Payload) {
			t.Fatalf("%s: %d of %d bytes, %v", rec.Schema.Name, n, len(rec.Payload), err)
		}
		var context, fields []string
		for i := range rec.Schema.Fields {
			d := &rec.Schema.Fields[i]
			if d.Name == "procname" {
				context = append(context, ", "+d.Name+" = "+show(d, e.FieldValue(i)))
				continue
			}
			fields = add(fields, d, e.FieldValue(i))
		}
		owner := fmt.Sprintf("{ vpid = %d, vtid = %d%s }", rec.ProcessID, rec.ThreadID, strings.Join(context, ""))
		name := rec.ProviderName + ":" + rec.Schema.Name
		if rec.ProviderName == "kernel" {
			name = rec.Schema.Name
			owner = fmt.Sprintf("{ pid = %d%s }", rec.ProcessID, strings.Join(context, ""))
		}
		body := "{ }"
		if len(fields) > 0 {
			body = "{ " + strings.Join(fields, ", ") + " }"
		}
		lines = append(lines, fmt.Sprintf("[%d.%09d] %s%s: { cpu_id = %d }, %s, %s", rec.Timestamp/1e9, rec.Timestamp%1e9, host, name, rec.Processor, owner, body))
	}
	return lines
}

// add adds a field to a list of texts. Elements that are fields of their own become an array again.
func add(list []string, d *etw.FieldDesc, v etw.Value) []string {
	name, i, isElement := strings.Cut(d.Name, "[")
	text := show(d, v)
	if !isElement {
		if strings.HasPrefix(name, "vf") { // a variant
			text = "{ " + text + " }"
		}
		return append(list, name+" = "+text)
	}
	text = "[" + i + " = " + text
	begin, end := " = [ ", " ]"
	if strings.HasPrefix(name, "vf") {
		begin, end = " = { [ ", " ] }"
	}
	if i == "0]" {
		return append(list, name+begin+text+end)
	}
	last := &list[len(list)-1]
	*last = strings.TrimSuffix(*last, end) + ", " + text + end
	return list
}

// show returns a value as babeltrace2 prints it.
func show(d *etw.FieldDesc, v etw.Value) string {
	var list []string
	switch v.Kind() {
	case etw.ValueArray:
		for e := range v.Elements() {
			list = append(list, fmt.Sprintf("[%d] = %s", len(list), show(d, e)))
		}
		if len(list) == 0 {
			return "[ ]"
		}
		return "[ " + strings.Join(list, ", ") + " ]"
	case etw.ValueStruct:
		for i, m := range v.Members() {
			list = add(list, &d.Fields[i], m)
		}
		return "{ " + strings.Join(list, ", ") + " }"
	case etw.ValueInt, etw.ValueUint:
		if d.Out >= etw.OutHexInt8 && d.Out <= etw.OutHexInt64 {
			return fmt.Sprintf("0x%X", v.Uint())
		}
		text := fmt.Sprint(v.Int())
		if v.Kind() == etw.ValueUint {
			text = fmt.Sprint(v.Uint())
		}
		if d.Map != nil {
			name, _ := d.Map.Lookup(uint32(v.Uint()))
			text = fmt.Sprintf("( %q : container = %s )", name, text)
		}
		return text
	case etw.ValueFloat, etw.ValueFloat32:
		return strconv.FormatFloat(v.Float(), 'g', 6, 64) // which is all that it prints
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "'", `\'`).Replace(v.Text()) + `"`
}

// The traces of the corpus have each value that babeltrace2 prints. The providers of .NET are
// given other names in the metadata, so that their events are taken as they are laid out.
func TestBabeltrace(t *testing.T) {
	for _, archive := range corpus.Glob(t, "recordings", "ctf", "*.zip") {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			for dir, f := range folders(t, archive) {
				text, err := unpackMetadata(f.metadata)
				if err != nil {
					t.Fatal(err)
				}
				f.metadata = bytes.ReplaceAll(append([]byte("/* CTF 1.8 */"), text...), []byte("DotNETRuntime"), []byte("Dot"))
				got := printed(t, f.reader(t))
				agree(t, babeltrace(t, f.write(t)), got)
				t.Logf("%s: %d events", dir, len(got))
			}
		})
	}
}

// stale is the text that babeltrace2 prints for the second of two texts that is empty: the bytes
// of an event have a NUL where it prints the text of an event before.
var stale = regexp.MustCompile(`(MulticoreJit: .* String2 = )"System.Net.Sockets"`)

// agree compares two lists of lines. Events of one time may come in any order.
func agree(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(a[:20], b[:20]) }) {
		t.Error("the records are not in the order of time")
	}
	slices.Sort(want)
	slices.Sort(got)
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] && stale.ReplaceAllString(want[i], `$1""`) != got[i] {
			t.Fatalf("line %d is\n%.1000s\nbabeltrace2 has\n%.1000s", i, got[i], want[i])
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d events; babeltrace2 has %d", len(got), len(want))
	}
}

// Types of all kinds, sizes, alignments and both orders of bytes have the values that were written,
// and those that babeltrace2 reads where it is installed.
func TestRandom(t *testing.T) {
	seeds := 40
	if corpus.All() {
		seeds = 2000
	}
	for seed := range uint64(seeds) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 44)), big: seed%2 == 1}
		f, want := w.trace(seed%4 < 2)
		got := printed(t, f.reader(t))
		if _, err := exec.LookPath("babeltrace2"); err == nil && seed < 10 {
			agree(t, babeltrace(t, f.write(t)), slices.Clone(want))
		}
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("seed %d: %s\nline %d is\n%s\nand not\n%s", seed, f.metadata, i, got[min(i, len(got)-1)], want[i])
			}
		}
	}
}

// read reads a trace to its end, and returns the number of its records and the last error. Payloads
// have to be those that their descriptions say.
func read(t testing.TB, metadata, stream []byte) (n int, err error) {
	r, err := NewReader([]File{{"c", bytes.NewReader(stream), int64(len(stream))}, {Metadata, bytes.NewReader(metadata), int64(len(metadata))}})
	if err != nil {
		return 0, err
	}
	var rec etw.Record
	var e etw.Dynamic
	for n < 1<<20 {
		if err = r.Next(&rec); err != nil {
			break
		}
		n++
		if rec.Schema == nil {
			continue
		}
		if used, err := e.Decode(rec.Schema, rec.Payload, rec.PointerSize); err != nil || used != len(rec.Payload) {
			t.Fatalf("%s: %d of %d bytes, %v", rec.Schema.Name, used, len(rec.Payload), err)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// whole returns the bytes of the only stream.
func (f *folder) whole() []byte {
	b := make([]byte, f.streams[0].Size)
	f.streams[0].Data.ReadAt(b, 0)
	return b
}

// A stream that is cut has the events before the cut, and says that it is. One with a wrong bit
// loses no packet but its own.
func TestDamage(t *testing.T) {
	w := &writer{Rand: rand.New(rand.NewPCG(7, 44))}
	f, lines := w.trace(false)
	stream := f.whole()
	last := -1
	for size := range len(stream) + 1 {
		n, err := read(t, f.metadata, stream[:size])
		if n < last || n > last+1 && last >= 0 {
			t.Fatalf("%d events of %d bytes, and %d of one less", n, size, last)
		}
		if last = n; err != nil && !errors.Is(err, etw.ErrIncomplete) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	if last != len(lines) {
		t.Fatalf("%d of %d events", last, len(lines))
	}
	step := 13
	if corpus.All() {
		step = 1
	}
	for at := 0; at < len(stream)*8; at += step {
		bad := bytes.Clone(stream)
		bad[at/8] ^= 1 << (at % 8)
		if n, err := read(t, f.metadata, bad); n < len(lines)*2/3-1 || n > len(lines)+1000 {
			t.Errorf("with bit %d wrong %d of %d events, %v", at, n, len(lines), err)
		}
	}
	for at := range f.metadata {
		for bit := range 8 {
			if !corpus.All() && (at+bit)%64 != 0 {
				continue
			}
			bad := bytes.Clone(f.metadata)
			bad[at] ^= 1 << bit
			read(t, bad, stream)
		}
		if at%step == 0 {
			read(t, f.metadata[:at], stream)
		}
	}
}

// What a few bytes can ask for is bounded.
func TestBounds(t *testing.T) {
	head := "/* CTF 1.8 */ trace { byte_order = le; packet.header := struct { integer { size = 32; } magic; }; }; "
	event := func(fields string) string { return head + "event { name = x; fields := " + fields + "; };" }
	stream := append([]byte{0xc1, 0x1f, 0xfc, 0xc1}, bytes.Repeat([]byte{0xff}, 64)...)
	deep := strings.Repeat("struct { ", 100000) + "string s;"
	double := head + "struct s0 { integer { size = 1; align = 1; } a; };"
	for i := range 31 {
		double += fmt.Sprintf("struct s%d { struct s%d a; struct s%d b; };", i+1, i, i)
	}
	for name, metadata := range map[string]string{
		"nothing":             head + "event { name = x; };",
		"elements of nothing": event("struct { struct {} a[200000000]; }"),
		"many elements":       event("struct { integer { size = 64; } n; integer { size = 3; align = 1; } a[n]; }"),
		"many texts":          event("struct { integer { size = 64; } n; integer { size = 8; encoding = UTF8; } a[n]; }"),
		"arrays of arrays":    event("struct { integer { size = 1; align = 1; } a[2][2][2][2][2][2][2][2][2][2][2][2][2][2][2][2]; }"),
		"many arrays":         event("struct { integer { size = 1; align = 1; } a" + strings.Repeat("[2]", 100) + "; }"),
		"deep":                head + deep,
		"doubled":             double + "event { name = x; fields := struct s31; };",
		"many digits":         event("struct { integer { size = 99999999999999999999999999; } n; }"),
		"zero size":           event("struct { integer { size = 0; } n; }"),
		"large alignment":     event("struct { integer { size = 8; align = 1073741824; } n; }"),
		"odd alignment":       event("struct { integer { size = 8; align = 3; } n; }"),
		"long name":           head + strings.Repeat("a ", 1<<16),
		"no tag":              event("struct { variant <t> { string a; } v; }"),
		"itself":              event("struct { integer { size = 8; } a[a]; }"),
		"comment":             head + "/* ",
		"quote":               head + "env { a = \"",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := read(t, []byte(metadata), stream)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || n > 0 || took > 64<<20+100*uint64(len(metadata)) {
			t.Errorf("%s: %d events, %v, %d bytes of memory", name, n, err, took)
		}
	}
}

func FuzzReader(f *testing.F) {
	for seed := range uint64(4) {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, 44)), big: seed%2 == 1}
		trace, _ := w.trace(seed%4 < 2)
		f.Add(trace.metadata, trace.whole())
	}
	f.Fuzz(func(t *testing.T, metadata, stream []byte) { read(t, metadata, stream) })
}
