package filter

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob Glob
		text string
		want bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "anything", true},
		{"gc*", "GCStart_V1", true}, {"GCSTART_V1", "GCStart_V1", true}, {"GCStart", "GCStart_V1", false},
		{"*Start*", "GCStart_V1", true}, {"*Start", "GCStart_V1", false}, {"*_V1", "GCStart_V1", true},
		{"G?Start_V?", "GCStart_V1", true}, {"G?Start", "GStart", false}, {"?", "", false}, {"?", "é", true},
		{"a*b*c", "a-b-b-c", true}, {"a*b*c", "a-b-b-d", false}, {"a**", "a", true}, {"*a*a*", "a", false},
		{"é*", "ÉTÉ", true}, {"\xff*", "\xffx", true},
	} {
		if got := c.glob.Match(c.text); got != c.want {
			t.Errorf("%q matches %q: %v", c.glob, c.text, got)
		}
	}
	// Patterns that make simple matchers take exponential time.
	if Glob(strings.Repeat("a*", 50) + "b").Match(strings.Repeat("a", 5000)) {
		t.Error("no b to match")
	}
}

func TestNumbers(t *testing.T) {
	n, err := ParseNumbers("1, 3,10 - 0x14", 100)
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[int64]bool{0: false, 1: true, 2: false, 3: true, 9: false, 10: true, 20: true, 21: false, -1: false} {
		if n.Has(v) != want {
			t.Errorf("%d: %v", v, !want)
		}
	}
	if !Numbers(nil).Has(-1) {
		t.Error("no numbers at all must have all")
	}
	for text, want := range map[string]string{
		"":       "neither a number nor a range",
		"a":      "neither",
		"1,":     "neither",
		"-1":     "neither",
		"1-":     "neither",
		"1.5":    "neither",
		"5-4":    "empty",
		"101":    "more than 100",
		"1-1e99": "neither",
	} {
		if _, err := ParseNumbers(text, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMoment(t *testing.T) {
	start := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	clock := &etw.Clock{Start: etw.FileTimeOf(start)}
	at := func(d time.Duration) (*etw.Record, time.Duration) {
		return &etw.Record{Clock: clock, Timestamp: int64(d / 100)}, d
	}
	for _, c := range []struct {
		text string
		at   time.Duration
		want int
	}{
		{"1500", 1500 * time.Millisecond, 0}, {"1500", 1499 * time.Millisecond, -1}, {"1500", 1501 * time.Millisecond, 1},
		{"0.5", 500 * time.Microsecond, 0}, {"-1", 0, 1}, {"1.5s", 1500 * time.Millisecond, 0}, {"1h", time.Minute, -1},
		{"2024-05-01T10:00:01Z", time.Second, 0}, {"2024-05-01T12:00:01+02:00", time.Second, 0},
		{"2024-05-01T10:00:00.0000001Z", 0, -1}, {"2024-05-01T10:00:00.0000001Z", 100, 0},
	} {
		m, err := ParseMoment(c.text, time.UTC)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := m.compare(at(c.at)); got != c.want {
			t.Errorf("%v against %q: %d, want %d", c.at, c.text, got, c.want)
		}
	}
	for _, text := range []string{"", "soon", "NaN", "1e300", "2024-13-01", "25:00"} {
		if m, err := ParseMoment(text, time.UTC); err == nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
}

func provider(t *testing.T, text string) Provider {
	t.Helper()
	p, err := ParseProvider(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJudge(t *testing.T) {
	guid := etw.MustParseGUID("11111111-2222-3333-4444-555555555555")
	rec := &etw.Record{
		Provider: guid, ID: 5, Level: 4, Keywords: 0x6, ProcessID: 100, ThreadID: 200,
		Clock: &etw.Clock{},
	}
	classic := *rec
	classic.Kind, classic.ID = etw.KindClassic, 0
	event := &etw.EventInfo{Provider: "Acme-Widgets", Name: "WidgetMade", Task: "Widget", Opcode: "Start"}
	elapsed := 10 * time.Millisecond
	numbers := func(text string) Numbers {
		n, err := ParseNumbers(text, 1<<32)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	moment := func(text string) *Moment {
		m, err := ParseMoment(text, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		return &m
	}
	for _, c := range []struct {
		name   string
		header Header
		rec    *etw.Record
		want   Verdict
	}{
		{"all", Header{}, rec, Take},
		{"provider", Header{Providers: []Provider{provider(t, "acme-*")}}, rec, Take},
		{"one of two providers", Header{Providers: []Provider{provider(t, "other"), provider(t, "Acme-Widgets")}}, rec, Take},
		{"GUID", Header{Providers: []Provider{provider(t, "{"+guid.String()+"}")}}, rec, Take},
		{"other provider", Header{Providers: []Provider{provider(t, "clr")}}, rec, Skip},
		{"event", Header{Events: []Event{ParseEvent("widget*")}}, rec, Take},
		{"task and opcode", Header{Events: []Event{ParseEvent("Widget/Start")}}, rec, Take},
		{"other event", Header{Events: []Event{ParseEvent("Gadget")}}, rec, Skip},
		{"provider, but other event", Header{Providers: []Provider{provider(t, "acme-*")}, Events: []Event{ParseEvent("x")}}, rec, Skip},
		{"id", Header{IDs: numbers("1-5")}, rec, Take},
		{"other id", Header{IDs: numbers("6")}, rec, Skip},
		{"classic events have no id", Header{IDs: numbers("0")}, &classic, Skip},
		{"process", Header{Processes: numbers("100")}, rec, Take},
		{"other process", Header{Processes: numbers("200")}, rec, Skip},
		{"thread", Header{Threads: numbers("200")}, rec, Take},
		{"other thread", Header{Threads: numbers("100")}, rec, Skip},
		{"level", Header{Level: 4}, rec, Take},
		{"more important", Header{Level: 3}, rec, Skip},
		{"keywords", Header{Keywords: 0xc}, rec, Take},
		{"other keywords", Header{Keywords: 0x9}, rec, Skip},
		{"from", Header{From: moment("10")}, rec, Take},
		{"later", Header{From: moment("10.001")}, rec, Skip},
		{"to", Header{To: moment("10")}, rec, Late},
		{"earlier", Header{To: moment("10.001")}, rec, Take},
	} {
		for range 2 { // the second time by what it remembers
			if got := c.header.Judge(c.rec, event, elapsed); got != c.want {
				t.Errorf("%s: %d, want %d", c.name, got, c.want)
			}
		}
	}
}

// widget has a field of every kind that conditions treat in its own way.
var widget = &etw.EventDesc{
	Name: "Widget",
	Fields: []etw.FieldDesc{
		{Name: "Size", Type: etw.InUInt32},
		{Name: "Delta", Type: etw.InInt64},
		{Name: "Huge", Type: etw.InUInt64},
		{Name: "Ratio", Type: etw.InDouble},
		{Name: "Ready", Type: etw.InBoolean},
		{Name: "Reason", Type: etw.InUInt8, Map: &etw.MapDesc{Entries: []etw.MapEntry{{Value: 1, Name: "Induced"}, {Value: 2, Name: "Low memory"}}}},
		{Name: "Flags", Type: etw.InUInt16, Map: &etw.MapDesc{Flags: true, Entries: []etw.MapEntry{{Value: 1, Name: "A"}, {Value: 2, Name: "B"}}}},
		{Name: "Port", Type: etw.InUInt16, Out: etw.OutPort},
		{Name: "Address", Type: etw.InPointer},
		{Name: "ID", Type: etw.InGUID},
		{Name: "When", Type: etw.InFileTime},
		{Name: "Letters", Type: etw.InUInt8, Out: etw.OutString, Count: etw.Size{Kind: etw.SizeConst, N: 3}},
		{Name: "Name", Type: etw.InUnicodeString},
		{Name: "Path", Type: etw.InAnsiString},
		{Name: "Count", Type: etw.InUInt8},
		{Name: "Values", Type: etw.InStruct, Count: etw.Size{Kind: etw.SizeField, N: 14}, Fields: []etw.FieldDesc{
			{Name: "Type", Type: etw.InUInt8},
			{Name: "Inner", Type: etw.InStruct, Fields: []etw.FieldDesc{{Name: "Text", Type: etw.InUnicodeString}}},
		}},
		{Name: "Bytes", Type: etw.InUInt16, Count: etw.Size{Kind: etw.SizeConst, N: 2}},
	},
}

func widgetPayload() []byte {
	le := func(v uint64, n int) (b []byte) {
		for range n {
			b, v = append(b, byte(v)), v>>8
		}
		return b
	}
	minus := int64(-5)
	var p []byte
	for _, b := range [][]byte{
		le(1024, 4), le(uint64(minus), 8), le(1<<64-1, 8), le(0x3fe0000000000000, 8), le(1, 4), le(2, 1), le(3, 2),
		{0x1f, 0x90}, le(0x7ff00010, 8), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		le(133590096000000000, 8), []byte("abc"), etw.MakeUTF16("System.String \"x\""), {0, 0}, []byte("C:\\a=b\x00"),
		{2}, {5}, etw.MakeUTF16("one"), {0, 0}, {6}, etw.MakeUTF16("two"), {0, 0}, le(7, 2), le(8, 2),
	} {
		p = append(p, b...)
	}
	return p
}

func TestWhere(t *testing.T) {
	var d etw.Dynamic
	p := widgetPayload()
	if n, err := d.Decode(widget, p, etw.Ptr64); err != nil || n != len(p) {
		t.Fatal(n, err)
	}
	for text, want := range map[string]bool{
		"Size = 1024": true, "size==1024": true, "Size=0x400": true, "Size != 1024": false, "Size < 1025": true,
		"Size <= 1023.5": false, "Size > 1e3": true, "Size >= 1024": true, "Size = -1024": false, "Size > -1": true,
		"Delta = -5": true, "Delta < 0": true, "Delta > -0x6": true, "Delta < -5.5": false, "Delta > 18446744073709551615": false,
		"Huge = 18446744073709551615": true, "Huge > 18446744073709551614": true, "Huge > -1": true, "Huge < 1e300": true,
		"Ratio = 0.5": true, "Ratio > 0": true, "Ratio < 0.4999999999999999": false,
		"Ready = true": true, "Ready=1": true, "Ready != TRUE": false, "Ready = 0": false,
		"Reason = Low memory": true, "Reason = \"low memory\"": true, "Reason = 2": true, "Reason > 1": true, "Reason = Induced": false, "Reason != Induced": true,
		"Reason ~ ^Low": true, "Reason < Low memory": false,
		"Flags = A|B": true, "Flags = 3": true, "Flags ~ B": true, "Flags !~ B": false,
		"Port = 8080": true, "Port > 8079": true,
		"Address = 0x7ff00010": true, "Address >= 2146435088": true, "Address ~ ^0x7ff": true,
		"ID = {03020100-0504-0706-0809-0a0b0c0d0e0f}": true, "ID != 03020100-0504-0706-0809-0A0B0C0D0E0F": false, "ID = 7": false, "ID != 7": true,
		"When = 2024-05-01T00:00:00Z": false, "When > 2024-04-01T00:00:00Z": true, "When < 2024-04-01T00:00:00Z": false, "When > x": false, "When ~ ^2024-": true,
		"Letters = abc": true, "Letters ~ b": true,
		"Name = System.String \"x\"": true, "Name ~ ^System\\.": true, "Name !~ ^System": false, "Name < T": true, "Name = system.string": false,
		"Path = C:\\a=b": true, "Path ~ a=": true, "Path != \"\"": true,
		"Values.Type = 6": true, "Values.Type = 7": false, "Values.Type > 5": true, "values.inner.text = two": true, "Values.Inner.Text ~ ^t": true,
		"Values.Inner = two": false, "Values.Missing = 1": false, "Values = 1": false, "Values ~ two": true,
		"Bytes = 8": true, "Bytes = 9": false, "Bytes != 8": true, "Bytes.X = 1": false,
		"Missing = 1": false, "Missing != 1": false, "Size.X = 1": false,
	} {
		w, err := ParseWhere(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := w.Match(&d); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestWhereErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":           "has no operator",
		"Size":       "has no operator",
		"Size 5":     "has no operator",
		"Size =":     `has no value; write ""`,
		"= 5":        "is not the name of a field",
		"a b = 5":    "is not the name of a field",
		"a..b = 5":   "is not the name of a field",
		"a.=5":       "is not the name of a field",
		"Size ! 5":   "has no operator",
		"Name ~ (":   "missing closing )",
		"Name !~ [z": "missing closing ]",
	} {
		if w, err := ParseWhere(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v, want %q", text, w, err, want)
		}
	}
}

func FuzzWhere(f *testing.F) {
	for _, seed := range []string{"Size >= 1024", "Name ~ ^System", `a.b = " x "`, "x!=\"", "ID={03020100-0504-0706-0809-0a0b0c0d0e0f}", "When<2024-04-01T00:00:00Z", "v=-0x8000000000000000", "é = 1e5"} {
		f.Add(seed)
	}
	var d etw.Dynamic
	if _, err := d.Decode(widget, widgetPayload(), etw.Ptr64); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := ParseWhere(text)
		if err != nil {
			return
		}
		again, err := ParseWhere(w.String())
		if err != nil {
			t.Fatalf("%q is %q, which does not parse: %v", text, w, err)
		}
		if again.String() != w.String() {
			t.Fatalf("%q becomes %q", w, again)
		}
		if w.Match(&d) != again.Match(&d) {
			t.Fatalf("%q and %q differ", w, again)
		}
		// A condition with a value can hold or not, but not both.
		for op, other := range map[operator]operator{"=": "!=", "~": "!~"} {
			if w.op != op || w.path[0] == "Values" || w.path[0] == "Bytes" {
				continue
			}
			n := *w
			n.op = other
			if w.Match(&d) && n.Match(&d) && !strings.EqualFold(w.path[0], "Values") && !strings.EqualFold(w.path[0], "Bytes") {
				t.Fatalf("%q and its opposite hold", w)
			}
		}
	})
}

// A header that asks for anything does not let all records through.
func TestHeaderAll(t *testing.T) {
	if !new(Header).All() {
		t.Error("the zero header does not let all through")
	}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Header]()) {
		var h Header
		switch v := reflect.ValueOf(&h).Elem().Field(i); {
		case !f.IsExported() || f.Name == "Taken" || f.Name == "Caused" || f.Name == "Partial": // they describe others
			continue
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		default:
			v.SetUint(1)
		}
		if h.All() {
			t.Errorf("with %s the header lets all through", f.Name)
		}
	}
}
