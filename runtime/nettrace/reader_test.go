package nettrace_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/runtime/nettrace/nettracetest"
)

// orders are the options of file order and of that of time.
var orders = [][]nettrace.Option{{nettrace.WithFileOrder()}, nil}

// readStream returns copies of all records of a stream, and the error that ended
// it, nil for io.EOF.
func readStream(t testing.TB, data []byte, opts ...nettrace.Option) ([]*etw.Record, *nettrace.Reader, error) {
	t.Helper()
	r, err := nettrace.NewReader(bytes.NewReader(data), opts...)
	if err != nil {
		return nil, nil, err
	}
	var recs []*etw.Record
	for rec, err := range r.Records() {
		if err != nil {
			return recs, r, err
		}
		recs = append(recs, rec.Clone())
	}
	return recs, r, nil
}

// mustRead is readStream for streams that are whole.
func mustRead(t testing.TB, data []byte, opts ...nettrace.Option) ([]*etw.Record, *nettrace.Reader) {
	t.Helper()
	recs, r, err := readStream(t, data, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return recs, r
}

func times(recs []*etw.Record) []int64 {
	var ts []int64
	for _, r := range recs {
		ts = append(ts, r.Timestamp)
	}
	return ts
}

// clrRow is the metadata of an event of the runtime, which has no name.
func clrRow(id uint32, event uint32) nettracetest.Row {
	return nettracetest.Row{ID: id, Provider: "Microsoft-Windows-DotNETRuntime", EventID: event, Version: 2, Level: 4, Keywords: 1}
}

var (
	clrGUID     = etw.MustParseGUID("e13c0d23-ccbc-4e12-931b-d9cc2eee27e4")
	rundownGUID = etw.MustParseGUID("a669021c-c450-4609-a035-5af59af4df18")
)

func TestAllVersions(t *testing.T) {
	start := time.Date(2024, 2, 29, 23, 59, 58, 765e6, time.UTC)
	trace := nettracetest.Trace{
		Start: start, Origin: 5000, Frequency: 1e7, ProcessID: 4321, Processors: 16, Sampling: 1e6,
		Keys: [][2]string{{"ProcessId", "4321"}, {"HardwareThreadCount", "16"}, {"ExpectedCPUSamplingRate", "1000000"}, {"Other", "text"}},
	}
	activity := etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")
	related := etw.MustParseGUID("ffeeddcc-bbaa-9988-7766-554433221100")
	for _, version := range []int{3, 4, 6} {
		for _, plain := range []bool{false, true} {
			for _, ptr := range []etw.PtrSize{etw.Ptr32, etw.Ptr64} {
				t.Run(fmt.Sprintf("v%d/plain=%t/ptr=%d", version, plain, ptr), func(t *testing.T) {
					trace.Pointer = ptr
					w := nettracetest.NewWriter(version, trace)
					w.Plain = plain
					w.Metadata(clrRow(1, 10), nettracetest.Row{
						ID: 2, Provider: "My-Source", EventID: 7, Name: "Hello", Version: 3, Level: 5, Keywords: 0xf0,
						Fields: []nettracetest.Field{{Name: "n", Type: 9}},
					})
					e1 := nettracetest.Event{Metadata: 1, Time: 6000, Thread: 11, Processor: 4, Stack: 1, Addresses: []uint64{0x1000, 0x2000}, Payload: []byte{1, 2, 3}}
					e2 := nettracetest.Event{Metadata: 2, Time: 7000, Thread: 11, Processor: 4, Activity: activity, Related: related, Labels: 1, Payload: []byte{9, 0, 0, 0}}
					e3 := e2
					e3.Time, e3.Payload, e3.Activity, e3.Labels = 8000, nil, etw.GUID{}, 2
					if version != 3 {
						w.Stacks(1, []uint64{0x1000, 0x2000})
					}
					if version == 6 {
						w.Threads(nettracetest.Thread{Index: 11, Name: "main", ThreadID: 11})
						w.Labels(1,
							[]nettracetest.Label{{Kind: 1, GUID: activity}, {Kind: 2, GUID: related}},
							[]nettracetest.Label{{Kind: 2, GUID: related}})
					}
					w.Events(e1, e2, e3)
					w.End()
					recs, r := mustRead(t, w.Bytes())

					h := r.Header()
					if h.Version != version || h.PointerSize != ptr || h.ProcessID != 4321 || h.Processors != 16 ||
						h.SamplingInterval != time.Millisecond || !h.Start().Equal(start) || h.Clock.Origin != 5000 || h.Clock.Frequency != 1e7 {
						t.Errorf("header %+v", h)
					}
					if version == 6 && !slices.Contains(h.Keys, nettrace.KeyValue{Key: "Other", Value: "text"}) {
						t.Errorf("keys %v", h.Keys)
					}
					if len(recs) != 3 {
						t.Fatalf("%d records", len(recs))
					}
					processor, stack := int32(3), []uint64{0x1000, 0x2000}
					if version == 3 {
						processor = -1
					}
					a := recs[0]
					if a.Provider != clrGUID || a.ID != 10 || a.Version != 2 || a.Level != 4 || a.Keywords != 1 || a.Schema != nil ||
						a.ProcessID != 4321 || a.ThreadID != 11 || a.Processor != processor || a.PointerSize != ptr ||
						!bytes.Equal(a.Payload, []byte{1, 2, 3}) || !a.ActivityID.IsZero() || a.Kind != etw.KindManifest {
						t.Errorf("record %+v", a)
					}
					if got := slices.Collect(a.Stack.All()); !slices.Equal(got, stack) {
						t.Errorf("stack %x", got)
					}
					if got := a.Time().Sub(start); got != 100*time.Microsecond {
						t.Errorf("time %v after the start", got)
					}
					b := recs[1]
					if b.ProviderName != "My-Source" || b.Schema == nil || b.Schema.Name != "Hello" || b.ActivityID != activity || b.RelatedActivityID != related {
						t.Errorf("record %+v", b)
					}
					var d etw.Dynamic
					if n, err := d.Decode(b.Schema, b.Payload, b.PointerSize); n != 4 || err != nil || d.FieldValue(0).Int() != 9 {
						t.Errorf("decoded %d bytes to %v: %v", n, d.FieldValue(0), err)
					}
					if c := recs[2]; len(c.Payload) != 0 || c.Timestamp != 8000 || !c.ActivityID.IsZero() || c.RelatedActivityID != related {
						t.Errorf("record %+v", c)
					}
					if s := r.Stats(); !s.Stopped || s.Records != 3 || s.Bytes != int64(len(w.Bytes())) || s.Lost != 0 {
						t.Errorf("stats %+v", s)
					}
				})
			}
		}
	}
}

// smallTrace is a stream with a bit of everything.
func smallTrace(version int) []byte {
	w := nettracetest.NewWriter(version, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10), clrRow(2, 11))
	if version != 3 {
		w.Stacks(1, []uint64{1, 2}, nil, []uint64{3})
	}
	if version == 6 {
		w.Threads(nettracetest.Thread{Index: 1, ThreadID: 101}, nettracetest.Thread{Index: 2, Name: "two", ThreadID: 102})
		w.Labels(1, []nettracetest.Label{{Kind: 5, Key: "k", Text: "v"}})
	}
	w.Events(
		nettracetest.Event{Metadata: 1, Thread: 1, Time: 100, Stack: 1, SortPoint: true, Payload: []byte("abc")},
		nettracetest.Event{Metadata: 2, Thread: 1, Time: 130, Stack: 3, Payload: []byte("abc")},
		nettracetest.Event{Metadata: 2, Thread: 2, Time: 110, Payload: make([]byte, 300)},
	)
	w.Events(nettracetest.Event{Metadata: 1, Thread: 2, Time: 140, SortPoint: true})
	if version != 3 {
		w.SequencePoint(150, 0, nil)
	}
	w.End()
	return w.Bytes()
}

// A block must be delivered before the writer of a live stream sends the next
// one.
func TestLiveStream(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		pr, pw := io.Pipe()
		w := nettracetest.NewWriter(version, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		sent := 0
		next := make(chan struct{})
		go func() {
			for i := range 5 {
				w.Events(nettracetest.Event{Metadata: 1, Thread: 1, Time: int64(i), SortPoint: true})
				end := w.Offset()
				if version != 6 {
					end-- // the end tag of the object is late
				}
				pw.Write(w.Bytes()[sent:end])
				sent = end
				<-next
			}
			w.End()
			pw.Write(w.Bytes()[sent:])
			pw.Close()
		}()
		r, err := nettrace.NewReader(pr)
		if err != nil {
			t.Fatal(err)
		}
		var rec etw.Record
		for i := range 5 {
			if err := r.Next(&rec); err != nil || rec.Timestamp != int64(i) {
				t.Fatalf("version %d, event %d: %v", version, i, err)
			}
			next <- struct{}{}
		}
		if err := r.Next(&rec); err != io.EOF {
			t.Fatal(err)
		}
	}
}

// The reader must not care how the bytes arrive.
func TestReadSizes(t *testing.T) {
	for _, version := range []int{3, 4, 6} {
		data := smallTrace(version)
		want, _ := mustRead(t, data)
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"one byte": iotest.OneByteReader, "half": iotest.HalfReader, "data with error": iotest.DataErrReader,
		} {
			r, err := nettrace.NewReader(wrap(bytes.NewReader(data)))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for rec, err := range r.Records() {
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if rec.Timestamp != want[n].Timestamp || !bytes.Equal(rec.Payload, want[n].Payload) {
					t.Errorf("%s: record %d differs", name, n)
				}
				n++
			}
			if n != len(want) {
				t.Errorf("%s: %d records, want %d", name, n, len(want))
			}
		}
	}
}

var errDisk = errors.New("disk on fire")

func TestReadError(t *testing.T) {
	data := smallTrace(4)
	for n := range data {
		src := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(errDisk))
		r, err := nettrace.NewReader(src)
		if err == nil {
			for _, err = range r.Records() {
				if err != nil {
					break
				}
			}
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// Trap: a reader that returns neither bytes nor an error must not hang it.
func TestNoProgress(t *testing.T) {
	_, err := nettrace.NewReader(stuck{})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestVersionsThatAreRefused(t *testing.T) {
	netperf := func(name string, version byte) []byte {
		b := append([]byte{20, 0, 0, 0}, "!FastSerialization.1"...)
		b = append(b, 4, 4, 1, version, 0, 0, 0, 0, 0, 0, 0, byte(len(name)), 0, 0, 0)
		b = append(append(b, name...), 6)
		return append(b, make([]byte, 100)...)
	}
	nettrace6 := func(major, minor byte) []byte {
		b := nettracetest.NewWriter(6, nettracetest.Trace{}).Bytes()
		b[12], b[16] = major, minor
		return b
	}
	nettrace4 := bytes.Clone(nettracetest.NewWriter(4, nettracetest.Trace{}).Bytes())
	nettrace4[8+24+3] = 7
	for _, c := range []struct {
		name string
		data []byte
		want error
		text string
	}{
		{"netperf 1", netperf("Microsoft.DotNet.Runtime.EventPipeFile", 1), nettrace.ErrVersion, "netperf 1"},
		{"netperf 2", netperf("Microsoft.DotNet.Runtime.EventPipeFile", 2), nettrace.ErrVersion, "netperf 2"},
		{"netperf 9", netperf("Trace", 9), nettrace.ErrVersion, "netperf 9"},
		{"nettrace 7", nettrace6(7, 0), nettrace.ErrVersion, "nettrace 7.0"},
		{"nettrace 6.25", nettrace6(6, 25), nil, ""},
		{"Trace 7", nettrace4, nettrace.ErrVersion, "nettrace 7"},
		{"etl", make([]byte, 4096), nettrace.ErrFormat, "offset 0"},
		{"empty", nil, nettrace.ErrFormat, ""},
		{"text", []byte("Nettrace is a format"), nettrace.ErrFormat, ""},
		{"text", []byte("!FastSerialization.1"), nettrace.ErrFormat, ""},
		{"half a magic", []byte("Nettrace"), nettrace.ErrTruncated, "offset 8"},
	} {
		_, err := nettrace.NewReader(bytes.NewReader(c.data))
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
		if pos := new(etw.Damage); err != nil && !errors.As(err, &pos) {
			t.Errorf("%s: the error has no offset: %v", c.name, err)
		}
	}
}

// A block header longer than known is passed over.
func TestLongerBlockHeader(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	b := binary.LittleEndian.AppendUint16(nil, 26)
	b = append(b, 1, 0)
	b = append(b, make([]byte, 22)...)
	b = append(b, 0x83, 1, 0, 5, 0, 42, 2, 'h', 'i') // metadata 1, thread 5, time 42, 2 bytes
	w.Object("EventBlock", b)
	w.End()
	recs, _ := mustRead(t, w.Bytes())
	if len(recs) != 1 || recs[0].Timestamp != 42 || string(recs[0].Payload) != "hi" {
		t.Errorf("records %+v", recs)
	}
}

// The contents of a block of an unknown kind are missing, and that is reported, but for a
// version that may have further kinds.
func TestUnknownBlocksAreSkipped(t *testing.T) {
	for _, c := range []struct {
		version int
		minor   byte
	}{{3, 0}, {4, 0}, {6, 0}, {6, 1}} {
		w := nettracetest.NewWriter(c.version, nettracetest.Trace{})
		w.Metadata(clrRow(1, 10))
		if c.version == 6 {
			w.Block(99, make([]byte, 1000))
			w.Bytes()[16] = c.minor
		} else {
			w.Object("NewBlock", make([]byte, 1000))
		}
		w.Events(nettracetest.Event{Metadata: 1})
		w.End()
		recs, r, err := readStream(t, w.Bytes())
		if s := r.Stats(); len(recs) != 1 || !s.Stopped || s.Damage.Count > 1 {
			t.Errorf("version %d: %d records, stats %+v", c.version, len(recs), s)
		}
		if whole := c.minor > 0; whole != (err == nil) || whole != (r.Stats().UnknownBlocks == 0) {
			t.Errorf("version %d.%d: %v", c.version, c.minor, err)
		}
	}
}

// A block that claims to be a second trace header may have been one of events: that it says
// nothing is said.
func TestSecondHeader(t *testing.T) {
	w := nettracetest.NewWriter(6, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	at := len(w.Bytes())
	w.Events(nettracetest.Event{Metadata: 1})
	w.End()
	w.Bytes()[at+3] = 1
	recs, r, err := readStream(t, w.Bytes())
	if !errors.Is(err, nettrace.ErrDamaged) || len(recs) != 0 || r.Stats().DamagedBlocks != 1 {
		t.Errorf("%d records, %+v, %v", len(recs), r.Stats(), err)
	}
}

func TestUnknownMetadata(t *testing.T) {
	w := nettracetest.NewWriter(4, nettracetest.Trace{})
	w.Metadata(clrRow(1, 10))
	w.Events(nettracetest.Event{Metadata: 77, Thread: 3, Payload: []byte("x")}, nettracetest.Event{Metadata: 1, Thread: 3})
	w.End()
	recs, r := mustRead(t, w.Bytes())
	if len(recs) != 2 || !recs[0].Provider.IsZero() || recs[0].ThreadID != 3 || string(recs[0].Payload) != "x" || recs[1].ID != 10 {
		t.Errorf("records %+v", recs)
	}
	if r.Stats().UnknownMetadata != 1 {
		t.Errorf("stats %+v", r.Stats())
	}
}

func TestRecordIsFullySet(t *testing.T) {
	r := testio.Reader(t, nettrace.NewReader, smallTrace(4))
	dirty := etw.Record{Channel: 9, Task: 9, Opcode: 9, Kind: etw.KindClassic, Processor: 9, Extended: make([]etw.ExtendedItem, 3), Schema: new(etw.EventDesc)}
	var clean etw.Record
	if err := r.Next(&dirty); err != nil {
		t.Fatal(err)
	}
	r2, _ := nettrace.NewReader(bytes.NewReader(smallTrace(4)))
	if err := r2.Next(&clean); err != nil {
		t.Fatal(err)
	}
	clean.Clock, dirty.Clock = nil, nil
	if diff := cmp.Diff(clean, dirty); diff != "" {
		t.Error(diff)
	}
}

// Iteration that stops early leaves the rest to be read.
func TestRecordsBreak(t *testing.T) {
	r, _ := nettrace.NewReader(bytes.NewReader(smallTrace(4)))
	for range r.Records() {
		break
	}
	n := 0
	for range testio.Records(t, r.Records()) {
		n++
	}
	if n != 3 {
		t.Errorf("%d records after the first", n)
	}
	if err := r.Next(new(etw.Record)); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

// Records and errors name the file, or the name of Named.
func TestNamed(t *testing.T) {
	data := smallTrace(4)
	recs, r, err := readStream(t, data[:len(data)-10], nettrace.WithName("live"))
	if len(recs) == 0 || recs[0].File != "live" {
		t.Errorf("%d records", len(recs))
	}
	if err == nil || !strings.HasPrefix(err.Error(), "nettrace: live: offset ") {
		t.Error(err)
	}
	if d := r.Stats().Damage; d.Count != 1 || d.Damages[0].File != "live" || d.Damages[0].Format != "nettrace" {
		t.Errorf("damage %+v", d)
	}
	path := filepath.Join(t.TempDir(), "a.nettrace")
	testio.Write(t, path, data)
	r = testio.Open(t, nettrace.Open, path, nettrace.WithFileOrder())
	defer r.Close()
	var rec etw.Record
	if err := r.Next(&rec); err != nil || rec.File != path {
		t.Errorf("a record of %q, %v", rec.File, err)
	}
}

// TestETL opens an .etl file by mistake.
func TestETL(t *testing.T) {
	b := make([]byte, 4096)
	copy(b[0x48:], []byte{0, 0, 2, 0xc0, 0x20, 1, 0, 0})
	_, err := nettrace.NewReader(bytes.NewReader(b))
	if !errors.Is(err, nettrace.ErrFormat) || !strings.Contains(err.Error(), "use package etl") {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	if _, err := nettrace.Open("no such file"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "nettrace: ") {
		t.Error(err)
	}
	if _, err := nettrace.Open("reader_test.go"); !errors.Is(err, nettrace.ErrFormat) || !strings.HasPrefix(err.Error(), "nettrace: reader_test.go: offset 0: ") {
		t.Error(err)
	}
	r := testio.Open(t, nettrace.Open, "../../tests/recorded/exceptions.nettrace")
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if r, _ := nettrace.NewReader(bytes.NewReader(smallTrace(4))); r.Close() != nil {
		t.Error("a reader of a stream has nothing to close")
	}
}
