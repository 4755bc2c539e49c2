package filter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/kernel"
	"github.com/etwgen/etwgen/runtime/etw"
)

// checked is an event with fields of all classes.
var checked = &etw.EventDesc{Name: "E", ID: 7, Fields: []etw.FieldDesc{
	{Name: "Count", Type: etw.InUInt32}, {Name: "Text", Type: etw.InUnicodeString}, {Name: "ID", Type: etw.InGUID}, {Name: "At", Type: etw.InFileTime},
	{Name: "Yes", Type: etw.InBoolean}, {Name: "Address", Type: etw.InUInt32, Out: etw.OutIPv4},
	{Name: "Color", Type: etw.InUInt8, Map: &etw.MapDesc{Entries: []etw.MapEntry{{Value: 1, Name: "Red"}, {Value: 2, Name: "Green"}}}},
	{Name: "Point", Type: etw.InStruct, Fields: []etw.FieldDesc{{Name: "X", Type: etw.InInt16}}},
	{Name: "Nothing", Type: etw.InStruct}, {Type: etw.InUInt8},
}}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"Count > 5": "", "count = 0x10": "", "Count ~ ^1": "", "Text = abc": "", "Text > 5": "", "Point.X < 0": "", "Color = red": "", "Color != Red|Green": "",
		"Color = 1": "", "Yes = true": "", "Yes = 1": "", "Address = 1.2.3.4": "", "At > 2024-05-01T10:00:00Z": "",
		"ID = {e13c0d23-ccbc-4e12-931b-d9cc2eee27e4}": "",
		"Count > abc": "Count is a number",
		"Count = abc": "Count is a number",
		"Color > red": "Color is a number",
		"Color = Blu": `Color has no value called "Blu"; there are Red, Green`,
		"Yes = maybe": "Yes is true or false",
		"ID = 5":      "ID is a GUID",
		"At = noon":   "At is a time",
		"Point = 5":   "Point is a struct: name one of its members, such as Point.X",
		"Nothing = 5": "such as Nothing.Member",
		"Size = 5":    `no event has a field "Size"`,
		"Point.Z = 5": `no event has a field "Point.Z"`,
	} {
		w, err := ParseWhere(text)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Check([]*etw.EventDesc{checked})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		var unknown *UnknownField
		if errors.As(err, &unknown) && !strings.Contains(strings.Join(unknown.Known, " "), "Point Point.X Text") {
			t.Errorf("%s: known are %v", text, unknown.Known)
		}
		if len(w.Path()) == 0 {
			t.Errorf("%s has no path", text)
		}
	}
	many := &etw.MapDesc{}
	for i := range 30 {
		many.Entries = append(many.Entries, etw.MapEntry{Value: uint32(i), Name: "N"})
	}
	if got := entryNames(many); !strings.HasSuffix(got, ", 10 more") {
		t.Errorf("names %s", got)
	}
	// Of two events one may do.
	w, err := ParseWhere("Count = abc")
	if err != nil {
		t.Fatal(err)
	}
	other := &etw.EventDesc{Fields: []etw.FieldDesc{{Name: "Count", Type: etw.InAnsiString}}}
	if err := w.Check([]*etw.EventDesc{checked, other}); err != nil {
		t.Errorf("text: %v", err)
	}
}

func TestMatchDesc(t *testing.T) {
	start := (&clr.GCStartV2{}).EventDesc()
	for _, c := range []struct {
		header Header
		want   bool
	}{
		{Header{}, true},
		{Header{Providers: []Provider{provider(t, "clr")}}, true},
		{Header{Providers: []Provider{provider(t, "*Runtime")}}, true},
		{Header{Providers: []Provider{provider(t, "other")}}, false},
		{Header{IDs: Numbers{{1, 1}}}, true},
		{Header{IDs: Numbers{{2, 9}}}, false},
		{Header{Events: []Event{ParseEvent("GC/Start")}}, true},
		{Header{Events: []Event{ParseEvent("GC/Stop")}}, false},
	} {
		if got := c.header.MatchDesc(start); got != c.want {
			t.Errorf("%+v: %v", c.header, got)
		}
	}
	if _, err := ParseProvider("{e13c0d23}"); err == nil {
		t.Error("half a GUID is a provider")
	}
	if got := ParseEvent("GC*").String(); got != "GC*" {
		t.Errorf("the pattern is %q", got)
	}
	// The short name of a provider of classic events stands for all of its classes.
	read := (*kernel.DiskIoReadV3)(nil).EventDesc()
	if h := (Header{Providers: []Provider{provider(t, "kernel")}}); !h.MatchDesc(read) {
		t.Error("kernel does not match the description of DiskIo/Read")
	}
}

func TestTimesOfDay(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	start := time.Date(2024, 5, 1, 22, 30, 0, 0, time.UTC) // half past midnight there
	for text, want := range map[string]time.Time{
		"00:30":               time.Date(2024, 5, 1, 22, 30, 0, 0, time.UTC),
		"00:29:59":            time.Date(2024, 5, 2, 22, 29, 59, 0, time.UTC),
		"01:00:00.5":          time.Date(2024, 5, 1, 23, 0, 0, 5e8, time.UTC),
		"2024-05-02 01:00":    time.Date(2024, 5, 1, 23, 0, 0, 0, time.UTC),
		"2024-05-02T01:00:00": time.Date(2024, 5, 1, 23, 0, 0, 0, time.UTC),
		"2024-05-02":          time.Date(2024, 5, 1, 22, 0, 0, 0, time.UTC),
	} {
		m, err := ParseMoment(text, zone)
		if err != nil {
			t.Fatal(err)
		}
		m.Resolve(start)
		if got := m.Time.Time(); !m.Absolute || !got.Equal(want) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	var none *Moment
	none.Resolve(start)
	moment := func(text string) *Moment {
		m, err := ParseMoment(text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return &m
	}
	for _, c := range []struct {
		from, to *Moment
		want     bool
	}{
		{nil, moment("1s"), false}, {moment("2s"), moment("1s"), true}, {moment("1s"), moment("1000"), true}, {moment("1s"), moment("2s"), false},
		{moment("1s"), moment("2024-05-01"), false}, {moment("2024-05-02"), moment("2024-05-01"), true}, {moment("10:00"), moment("10:00"), true},
		{moment("10:00"), moment("09:00"), false}, {moment("10:00"), moment("1s"), false},
	} {
		if got := c.from.NotBefore(c.to); got != c.want {
			t.Errorf("%v not before %v: %v", c.from, c.to, got)
		}
	}
}
