package evtx

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

func text(s string) value { return value{typeText, etw.MakeUTF16(s)} }

func number(n byte) value { return value{uint8(etw.InUInt32), []byte{n, 0, 0, 0}} }

// shop returns a chunk of two orders, the first of them the first of all.
func shop() *logWriter {
	w := newLog()
	w.event(7, w.order, text("tea & <milk>"), number(3))
	w.event(7, w.order, value{}, value{})
	return w
}

// A told is the contents of a log: for comparison.
type told struct {
	lines  []string
	within [][2]int64 // where records begin and end
	stats  Stats
	err    error
}

// read reads a log to its end, and holds the invariants of any input: each payload is decoded
// whole by its schema, records have XML unless it is too long, and after the error comes io.EOF.
func read(tb testing.TB, data []byte) (is told) {
	tb.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return told{err: err}
	}
	defer r.Close()
	r.KeepXML()
	var rec etw.Record
	var values etw.Dynamic
	for err = r.Next(&rec); err == nil; err = r.Next(&rec) {
		n, err := values.Decode(rec.Schema, rec.Payload, rec.PointerSize)
		if err != nil || n != len(rec.Payload) {
			tb.Fatalf("%d of %d bytes of a payload: %v: %+v", n, len(rec.Payload), err, rec.Schema.Fields)
		}
		x, err := r.AppendXML(nil)
		if last := rec.Extended[len(rec.Extended)-1]; (err == nil) != (last.Type == ExtXML) || err == nil && !bytes.Equal(last.Data, x) {
			tb.Fatalf("the record has %v, its XML is %s, %v", last, x, err)
		}
		if err != nil {
			x = []byte(err.Error())
		}
		is.lines = append(is.lines, string(x)+"\t"+values.String())
		at := r.Event().Offset
		is.within = append(is.within, [2]int64{at, at + int64(binary.LittleEndian.Uint32(data[at+4:]))})
	}
	if is.stats = r.Stats(); err != io.EOF {
		is.err = err
		if err := r.Next(&rec); err != io.EOF {
			tb.Fatalf("after the error: %v", err)
		}
	}
	if is.stats.Records != int64(len(is.lines)) || is.stats.Undecodable > 0 && !errors.Is(is.err, etw.ErrIncomplete) {
		tb.Fatalf("%d records, %+v, %v", len(is.lines), is.stats, is.err)
	}
	return is
}

func TestReader(t *testing.T) {
	data := log(shop().chunk(1))
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var rec etw.Record
	if err := r.Next(&rec); err != nil {
		t.Fatal(err)
	}
	want := Event{RecordID: 1, Channel: "Shop/Admin", Computer: "till", Written: loggedAt, Offset: headerBlock + chunkHead}
	if diff := cmp.Diff(want, r.Event()); diff != "" {
		t.Error(diff)
	}
	payload := append(etw.MakeUTF16("tea & <milk>\x00"), 3, 0, 0, 0)
	if !bytes.Equal(payload, rec.Payload) {
		t.Errorf("payload % x, want % x", rec.Payload, payload)
	}
	guid := etw.MustParseGUID("11111111-2222-3333-4444-555555555555")
	if key := (etw.Key{Provider: guid, ID: 7}); rec.Key() != key || rec.ProviderName != "Shop" || rec.ProcessID != -1 {
		t.Errorf("%v of %s, process %d", rec.Key(), rec.ProviderName, rec.ProcessID)
	}
	if got := rec.Time().Format("2006-01-02 15:04"); got != "2020-01-01 00:00" {
		t.Errorf("time %s", got)
	}
	first := rec.Schema
	if err := r.Next(&rec); err != nil {
		t.Fatal(err)
	}
	if rec.Schema != first || !bytes.Equal(rec.Payload, make([]byte, 6)) {
		t.Errorf("a record of nulls has another schema, or the payload % x", rec.Payload)
	}
	if err := r.Next(&rec); err != io.EOF {
		t.Errorf("at the end %v", err)
	}
	line := `<Event><System><Provider Name='Shop' Guid='{11111111-2222-3333-4444-555555555555}'/><EventID>7</EventID>` +
		`<TimeCreated SystemTime='2020-01-01T00:00:00.000000000Z'/><Channel>Shop/Admin</Channel><Computer>till</Computer></System>` +
		`<EventData><Data Name='Item'>tea &amp; &lt;milk&gt;</Data><Data Name='Count'>3</Data></EventData></Event>` + "\t" + `Event7 Item="tea & <milk>" Count=3`
	if diff := cmp.Diff(line, read(t, data).lines[0]); diff != "" {
		t.Error(diff)
	}
}

// A log that has gone round is read from its oldest chunk on, and records between chunks that
// are not there are counted.
func TestOrder(t *testing.T) {
	is := read(t, log(shop().chunk(11), shop().chunk(5)))
	if is.err != nil || is.stats.Records != 4 || is.stats.Missing != 4 || is.stats.Mismatches != 0 {
		t.Errorf("%+v, %v", is.stats, is.err)
	}
	list, err := places(bytes.NewReader(log(shop().chunk(11), shop().chunk(5))), headerBlock+2*chunkSize)
	if err != nil || list[0].first != 5 || list[1].first != 11 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestDamage(t *testing.T) {
	w := shop()
	second := bytes.LastIndex(w.b, []byte(recordMagic))
	for name, c := range map[string]struct {
		change func(chunk []byte) []byte
		want   Stats
		err    string
	}{
		"size":     {func(b []byte) []byte { b[len(w.b)-4]++; return b }, Stats{Records: 1, Undecodable: 1, Chunks: 1, Mismatches: 1}, "is overwritten"},
		"magic":    {func(b []byte) []byte { b[0]++; return b }, Stats{Records: 2, Carved: 2, Chunks: 1}, "its head is damaged"},
		"template": {func(b []byte) []byte { b[chunkHead+recordHead+50]++; return b }, Stats{Records: 1, Undecodable: 1, Chunks: 1, Mismatches: 1}, "template"},
		"carved":   {func(b []byte) []byte { b[48], b[49] = byte(second), byte(second>>8); return b }, Stats{Records: 2, Carved: 1, Chunks: 1, Mismatches: 1}, ""},
		"cut":      {func(b []byte) []byte { return b[:second+40] }, Stats{Records: 1, Undecodable: 1, Chunks: 1, Mismatches: 1}, "the file ends within it"},
	} {
		is := read(t, log(c.change(shop().chunk(1))))
		if diff := cmp.Diff(c.want, is.stats); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if c.err == "" && is.err != nil || c.err != "" && (is.err == nil || !strings.Contains(errorsOf(is.err), c.err)) {
			t.Errorf("%s: %v, want %q", name, is.err, c.err)
		}
	}
	for _, data := range [][]byte{nil, []byte("ElfFile"), make([]byte, 200), append([]byte(fileMagic), make([]byte, 200)...)} {
		if is := read(t, data); is.err == nil || is.err == io.EOF {
			t.Errorf("% x: %v", data[:min(8, len(data))], is.err)
		}
	}
}

// errorsOf returns the texts of all damages.
func errorsOf(err error) (text string) {
	if all, ok := errors.AsType[*etw.IncompleteError](err); ok {
		for _, d := range all.Damages {
			text += d.Error() + "\n"
		}
	}
	return text
}

// A template that is within itself, and XML that grows with each level, end.
func TestLoops(t *testing.T) {
	w := newLog()
	var at int
	w.record(func() {
		at = len(w.b) + 14
		w.template(1, func() {
			w.open("Event")
			w.bytes(tokenInstance, 1)
			w.uint32(1)
			w.uint32(at)
			w.uint32(0)
			w.close()
		})
	})
	if is := read(t, log(w.chunk(1))); is.stats.Undecodable != 1 || !strings.Contains(errorsOf(is.err), "within itself") {
		t.Errorf("%+v, %v", is.stats, is.err)
	}

	w = newLog()
	long := text(strings.Repeat("<", 5000))
	w.event(1, func() {
		w.open("EventData")
		for range 2000 {
			w.place(0, etw.InUnicodeString)
		}
		w.close()
	}, long)
	data := log(w.chunk(1))
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Next(new(etw.Record)); err != nil {
		t.Fatal(err)
	}
	if x, err := r.AppendXML(nil); !errors.Is(err, errLong) || len(x) > 2*maxXML {
		t.Errorf("%d bytes of XML, %v", len(x), err)
	}
}

// logs returns the event logs of the corpus.
func logs(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := map[string][]byte{}
	for _, path := range corpus.Glob(tb, "evtx", "*.evtx.gz") {
		all[path] = testio.Unpacked(tb, path)
	}
	return all
}

// All records of real logs that lie where their chunks say so, are delivered, and each find of a search
// for the magic is delivered or counted, unless it is within a record that is delivered. XML is XML.
func TestRealLogs(t *testing.T) {
	for path, data := range logs(t) {
		is := read(t, data)
		s, found := is.stats, int64(0)
		for at := headerBlock; at+recordHead+4 <= len(data); at += 8 {
			if string(data[at:at+4]) != recordMagic || (at-headerBlock)%chunkSize < chunkHead || (at-headerBlock)%chunkSize > chunkSize-recordHead-4 {
				continue
			}
			if !slices.ContainsFunc(is.within, func(w [2]int64) bool { return int64(at) > w[0] && int64(at) < w[1] }) {
				found++
			}
		}
		if s.Records == 0 || found != s.Records+s.Undecodable+s.Remnants {
			t.Errorf("%s: a search finds %d, but %+v", path, found, s)
		}
		for _, line := range is.lines {
			if err := xml.Unmarshal([]byte(line), new(struct{})); err != nil {
				t.Errorf("%s: %v: %s", path, err, line)
				break
			}
		}
	}
}

// Flips and cuts of real logs end without a panic, and keep the invariants.
func TestHostile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := logs(t)
	all["shop"] = log(shop().chunk(1))
	for path, data := range all {
		data = data[:min(len(data), headerBlock+chunkSize)]
		most := read(t, data).stats
		for range 40 {
			b := bytes.Clone(data)
			for range 1 + random.IntN(20) {
				b[headerBlock+random.IntN(len(b)-headerBlock)] ^= 1 << random.IntN(8)
			}
			if random.IntN(4) == 0 {
				b = b[:headerBlock+random.IntN(len(b)-headerBlock)]
			}
			if s := read(t, b).stats; s.Records > most.Records+most.Remnants+most.Undecodable+20 {
				t.Errorf("%s: %+v of a damaged log, %+v of the whole one", path, s, most)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(shop().b)
	w := newLog()
	w.event(9, w.order, value{typeText | typeArray, etw.MakeUTF16("a\x00b\x00")}, value{uint8(etw.InBinary), []byte{1, 2, 3}})
	f.Add(w.b)
	f.Fuzz(func(t *testing.T, chunk []byte) {
		if len(chunk) > chunkSize {
			chunk = chunk[:chunkSize]
		}
		read(t, log(append([]byte(chunkMagic), chunk[min(len(chunk), 8):]...)))
	})
}
