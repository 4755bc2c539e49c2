package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/etwgen/etwgen/manifest/tlg"
	"github.com/etwgen/etwgen/manifest/tlg/tlgtest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/eventheader"
	"github.com/etwgen/etwgen/runtime/gcdump"
	"github.com/etwgen/etwgen/runtime/profile"
)

// forms damages files of the forms that are read as a whole, or not at all: snapshots of heaps,
// profiles of other tools, programs with events of TraceLogging, records of EventHeader.
type forms struct {
	*campaign
	files    []formFile
	sample   []metrics.Sample
	accepted map[string]int
	closers  []func() // of servers
}

// A formFile is an intact file and who reads it.
type formFile struct {
	name  string
	form  string // where there are many of one
	data  []byte
	read  func([]byte) (int, error) // returns how much there is in it
	whole int                       // how much there is while it is intact
	ends  bool                      // whether its end can be told, so that no cut is as good
	page  int                       // but for cuts at multiples of it, 0 without
}

// testForms gives damaged files to the reader of their form.
func testForms(c *campaign, cfg config) error {
	x := &forms{campaign: c, accepted: make(map[string]int), sample: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
	dir, err := os.MkdirTemp("", "hostile-forms-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	err = x.make(cfg, dir)
	for _, closes := range x.closers {
		defer closes()
	}
	if err != nil {
		return err
	}
	for i := range x.files {
		f := &x.files[i]
		var err error
		if f.whole, err = f.read(f.data); err != nil || f.whole == 0 {
			return fmt.Errorf("%s, which is whole: %d in it, %w", f.name, f.whole, err)
		}
	}
	c.watch(5 * time.Minute)
	if cfg.sweep > 0 {
		x.sweep(cfg.sweep)
	} else {
		c.run(x.one)
	}
	fmt.Fprintf(c.out, "%d files of these forms:", len(x.files))
	for _, name := range slices.Sorted(maps.Keys(x.accepted)) {
		fmt.Fprintf(c.out, " %s %d", name, x.accepted[name])
	}
	fmt.Fprintln(c.out, " damaged ones were read")
	return nil
}

// exported are the forms that the tool writes a recording in.
var exported = []struct {
	format, recording string
	read              func([]byte) (int, error)
	ends              bool
}{
	{"pprof", "alloc.nettrace", readProfile, true},
	{"speedscope", "alloc.nettrace", readProfile, true},
	{"firefox", "alloc.nettrace", readProfile, true},
	{"folded", "alloc.nettrace", readProfile, false},
	{"otlp-profile", "alloc.nettrace", readProfile, true},
}

// make makes the intact files.
func (x *forms) make(cfg config, dir string) error {
	tool, err := buildTool(cfg, dir)
	if err != nil {
		return err
	}
	for _, e := range exported {
		path := filepath.Join(dir, "out")
		cmd := exec.Command(tool, "export", "--of", "allocs", "--format", e.format, "-o", path, filepath.Join(cfg.module, "tests", "recorded", e.recording))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("etw export --format %s: %w\n%s", e.format, err, out)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		os.Remove(path)
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) { // package trace unpacks
			if data, err = unpack(data); err != nil {
				return err
			}
		}
		x.files = append(x.files, formFile{name: e.format, data: data, read: e.read, ends: e.ends})
	}
	dump, err := heapOf(40)
	if err != nil {
		return err
	}
	x.files = append(x.files,
		formFile{name: "manifest of a lake", data: []byte(manifestOfLake), read: readManifest, ends: true},
		formFile{name: "gcdump", data: dump, read: readGCDump, ends: true},
		formFile{name: "cpuprofile", data: []byte(cpuProfile), read: readProfile, ends: true},
		formFile{name: "gperftools", data: gperftools(), read: readProfile, ends: true},
		formFile{name: "perf script", data: []byte(perfText), read: readProfile},
		formFile{name: "TraceLogging", data: tlgtest.Sample(), read: readTLG},
		formFile{name: "EventHeader", data: eventHeader(), read: readEventHeader},
	)
	return errors.Join(x.symbolFiles(cfg.corpus, dir), x.collect(cfg.corpus, cfg.max))
}

// unpack unpacks a file of gzip.
func unpack(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// heapOf makes a snapshot of a heap: a row of objects, each of which holds the next.
func heapOf(nodes int) ([]byte, error) {
	b := gcdump.NewBuilder(nodes)
	types := []int{b.Type("Shop.Order", "shop.dll"), b.Type("System.String", "System.Private.CoreLib.dll")}
	for i := range nodes {
		var children []int
		if i+1 < nodes {
			children = []int{i + 1, nodes - 1}
		}
		b.Set(i, types[i%2], uint64(0x1000+64*i), int64(24+8*i), children)
	}
	d, err := b.Dump(0)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	_, err = d.WriteTo(&out)
	return out.Bytes(), err
}

// buildTool builds the trace tool.
func buildTool(cfg config, dir string) (string, error) {
	path := filepath.Join(dir, "etw")
	build := exec.Command("go", "build", "-o", path, "./cmd/etw")
	build.Dir = cfg.module
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// cpuProfile is a profile of V8.
const cpuProfile = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","lineNumber":-1},"children":[2]},` +
	`{"id":2,"callFrame":{"functionName":"bake","url":"file:///shop.js","lineNumber":4},"children":[3]},` +
	`{"id":3,"callFrame":{"functionName":"","url":"file:///shop.js","lineNumber":9}}],` +
	`"startTime":100,"endTime":180,"samples":[3,2,3],"timeDeltas":[10,20,30]}`

// perfText is the output of perf script.
const perfText = "bake  2143/2145 [001] 1951.599325:    1001001 cpu-clock:ppp: \n\tffffffff816d1439 knead+0x1c9 ([kernel.kallsyms])\n\t           401 main (/bin/shop)\n\n" +
	"bake  2143/2143 [000] 1951.600325:    1001001 cpu-clock:ppp: \n\t           401 main (/bin/shop)\n\n"

// gperftools is a profile of that library: words of its head, samples with addresses, an end, and a
// map of memory.
func gperftools() []byte {
	var b []byte
	for _, word := range []uint64{0, 3, 0, 10_000, 0, 2, 2, 0x1010, 0x2020, 1, 1, 0x3000, 5, 3, 0x1010, 0x1020, 0x1030, 0, 1, 0} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return append(b, "1000-4000 r-xp 00000000 08:01 1 /bin/shop\n"...)
}

// eventHeader is a record of Linux's user_events: a header, the names of the event and of its
// fields with their types, and the values.
func eventHeader() []byte {
	b := []byte{0x6, 1, 5, 0, 0, 0, 0, 4}
	metadata := "Baked\x00loaf\x00\x81\x01\x02a\x00\x02b\x00\x03"
	b = append(b, byte(len(metadata)), 0, 1, 0)
	return append(append(b, metadata...), 1, 2, 3, 4, 5, 6, 7, 8)
}

// one damages a file.
func (x *forms) one(r *rand.Rand) {
	f := &x.files[r.IntN(len(x.files))]
	if f.ends && r.IntN(16) == 0 {
		x.cut(f, r.IntN(len(f.data)))
		return
	}
	data := mutateBytes(r, f.data)
	for range r.IntN(3) { // mutateBytes leaves the end alone, and sizes below 16
		data = damage(r, data)
	}
	x.try(f, data)
}

// sweep cuts every file at so many places.
func (x *forms) sweep(cuts int) {
	for i := range x.files {
		f := &x.files[i]
		for k := 0; k < cuts && f.ends && !x.over(); k++ {
			n := k * len(f.data) / cuts
			x.begin(fmt.Sprintf("%s: cut after %d bytes", f.name, n), f.data[:n])
			x.guard(func() { x.cut(f, n) })
		}
	}
}

// cut reads the beginning of a file: less than there was is an error. What is behind the last
// value, such as the end of a line, may be missing.
func (x *forms) cut(f *formFile, n int) {
	if got, err := x.try(f, f.data[:n:n]); err == nil && got < f.whole && (f.page == 0 || n%f.page != 0) {
		x.find("unsaid", "%s, cut after %d of %d bytes: %d of %d in it, and no word of it", f.name, n, len(f.data), got, f.whole)
	}
}

// try reads a file, in memory in proportion to it.
func (x *forms) try(f *formFile, data []byte) (int, error) {
	x.mutant = data
	before := x.allocated()
	n, err := f.read(data)
	if err == nil {
		x.accepted[cmp.Or(f.form, f.name)]++
	}
	if errors.Is(err, errPromise) {
		x.find("promise", "%s: %v", f.name, err)
	}
	if used := x.allocated() - before; used > uint64(64<<20+512*len(data)) {
		x.find("memory", "%s: %d MiB allocated for %d bytes", f.name, used>>20, len(data))
	}
	return n, err
}

func (x *forms) allocated() uint64 {
	metrics.Read(x.sample)
	return x.sample[0].Value.Uint64()
}

// errPromise is the error that a reader must never return.
var errPromise = errors.New("a promise of the reader is broken")

func readGCDump(data []byte) (int, error) {
	d, err := gcdump.Read(data)
	if err != nil {
		return 0, err
	}
	for i := range d.Nodes() {
		d.Node(i)
	}
	d.Roots()
	r := gcdump.NewReader(d)
	var rec etw.Record
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
	}
	if err != io.EOF {
		return 0, fmt.Errorf("%w: what is read has records that are not: %w", errPromise, err)
	}
	return d.Nodes(), nil
}

func readProfile(data []byte) (int, error) {
	p, err := profile.Read(data)
	if err != nil {
		return 0, err
	}
	var frames []int32
	for i, s := range p.Samples {
		for _, v := range p.Values(i) {
			if v < 0 {
				return 0, fmt.Errorf("%w: sample %d weighs %d", errPromise, i, v)
			}
		}
		frames = p.AppendStack(frames[:0], s.Stack)
		for _, f := range frames {
			if fn := p.Frames[f].Function; fn >= 0 {
				_ = p.Functions[fn]
			}
		}
	}
	if len(p.Warnings) > 0 {
		return len(p.Samples), fmt.Errorf("read with a warning: %s", p.Warnings[0])
	}
	return len(p.Samples), nil
}

func readTLG(data []byte) (int, error) {
	f, err := tlg.Read(data)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, g := range f.Groups() {
		n += len(g.Events)
	}
	if n != len(f.Events) {
		return 0, fmt.Errorf("%w: %d of %d events are in a group", errPromise, n, len(f.Events))
	}
	return n, nil
}

func readEventHeader(data []byte) (int, error) {
	tp, ok := eventheader.ParseName("Bakery_L4K1")
	if !ok {
		return 0, errors.New("no name of a tracepoint")
	}
	var d eventheader.Decoder
	e, err := d.Decode(tp, data)
	if err != nil {
		return 0, err
	}
	if len(e.Payload) > 1<<10+16*len(data) {
		return 0, fmt.Errorf("%w: %d bytes became %d", errPromise, len(data), len(e.Payload))
	}
	rec := &etw.Record{Provider: e.Desc.Provider.GUID, ProviderName: e.Desc.Provider.Name, ID: e.Desc.ID, Schema: e.Desc, PointerSize: etw.Ptr64, Payload: e.Payload}
	if v, err := etw.NewDecoder().Decode(rec); err == nil && v != nil {
		_ = etw.AppendText(nil, v)
	}
	return 1, nil
}
