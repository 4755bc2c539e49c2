package look

import (
	"math"
	"testing"
	"time"

	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/cmd/etw/internal/show/showtest"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestTotals(t *testing.T) {
	sum := func(values ...etw.Value) *total {
		x := &total{keep: true}
		for _, v := range values {
			if n, ok := numberOf(v); ok {
				x.add(n)
			}
		}
		return x
	}
	ints := sum(etw.IntValue(-5), etw.UintValue(10), etw.PointerValue(3), etw.BoolValue(1), etw.UintValue(100))
	for flag, want := range map[string]string{"sum": "109", "avg": "21.8", "min": "-5", "max": "100", "p50": "3", "p99": "100", "p80": "10", "p81": "100"} {
		if got := ints.result(measure{flag: flag}); got != want {
			t.Errorf("%s is %s, want %s", flag, got, want)
		}
	}
	exact := sum(etw.UintValue(1<<62), etw.UintValue(1))
	if got := exact.result(measure{flag: "sum"}); got != "4611686018427387905" {
		t.Errorf("the sum is %s", got)
	}
	large := sum(etw.UintValue(math.MaxUint64), etw.UintValue(math.MaxUint64-1), etw.UintValue(1<<63), etw.UintValue(math.MaxUint64-2), etw.IntValue(math.MaxInt64), etw.IntValue(math.MinInt64+1), etw.IntValue(math.MinInt64))
	for flag, want := range map[string]string{"sum": "55340232221128654842", "min": "-9223372036854775808", "max": "18446744073709551615", "p50": "9223372036854775808", "p58": "18446744073709551613", "p72": "18446744073709551614"} {
		if got := large.result(measure{flag: flag}); got != want {
			t.Errorf("of large ones %s is %s, want %s", flag, got, want)
		}
	}
	floats := sum(etw.FloatValue(0.5), etw.Float32Value(0.25), etw.FloatValue(math.NaN()), etw.GUIDValue(etw.GUID{}))
	if got := floats.result(measure{flag: "sum"}); got != "0.75" || floats.n != 2 {
		t.Errorf("the sum of %d is %s", floats.n, got)
	}
	if got := sum().result(measure{flag: "max"}); got != "" {
		t.Errorf("the largest of none is %s", got)
	}
	for f, want := range map[float64]string{1234.56789: "1234.568", 2: "2", 0.000012345: "0.000012345", 1e20: "100000000000000000000", 1.5: "1.5"} {
		if got := PlainFloat(f); got != want {
			t.Errorf("%v is %s, want %s", f, got, want)
		}
	}
}

func TestBuckets(t *testing.T) {
	for f, want := range map[float64][2]string{
		0: {"0", "1"}, 0.9: {"0", "1"}, 1: {"1", "2"}, 2: {"2", "4"}, 3.9: {"2", "4"}, 4: {"4", "8"}, 1 << 40: {"1099511627776", "2199023255552"},
		-1: {"-1", "0"}, -2: {"-3", "-1"}, -3: {"-3", "-1"}, -4: {"-7", "-3"},
	} {
		b := bucketOf(number{float: f})
		if got := [2]string{bucketStart(b), bucketStart(b + 1)}; got != want {
			t.Errorf("%v lies in %v, want %v", f, got, want)
		}
	}
	for want, v := range map[int64]etw.Value{63: etw.IntValue(math.MaxInt64), 64: etw.UintValue(1 << 63), 60: etw.UintValue(1<<60 - 1), -64: etw.IntValue(math.MinInt64), -1: etw.IntValue(-1)} {
		if n, _ := numberOf(v); bucketOf(n) != want {
			t.Errorf("%v lies in step %d, want %d", n, bucketOf(n), want)
		}
	}
	for _, c := range []struct{ a, b, want int64 }{{7, 5, 1}, {-1, 5, -1}, {-5, 5, -1}, {-6, 5, -2}, {0, 5, 0}} {
		if got := floorDiv(c.a, c.b); got != c.want {
			t.Errorf("%d / %d = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	var m []measure
	if err := (&measureFlag{"sum", &m}).Set(""); err == nil {
		t.Error("a measure of no field")
	}
}

// fieldShot is an event with fields of all kinds.
func fieldShot(t *testing.T) *pick.Shot {
	t.Helper()
	inner := []etw.FieldDesc{{Name: "X", Type: etw.InUInt8}, {Name: "Y", Type: etw.InUInt8}}
	desc := &etw.EventDesc{Name: "E", Fields: []etw.FieldDesc{
		{Name: "Float", Type: etw.InDouble}, {Name: "ID", Type: etw.InGUID}, {Name: "Text", Type: etw.InUnicodeString},
		{Name: "Points", Type: etw.InStruct, Count: etw.Size{Kind: etw.SizeConst, N: 2}, Fields: inner},
		{Name: "List", Type: etw.InUInt16, Count: etw.Size{Kind: etw.SizeConst, N: 2}},
	}}
	p := append([]byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, make([]byte, 16)...)
	p = append(etw.AppendUTF16(p, "text"), 0, 0, 1, 2, 3, 4, 5, 0, 6, 0)
	d := new(etw.Dynamic)
	if _, err := d.Decode(desc, p, etw.Ptr64); err != nil {
		t.Fatal(err)
	}
	return &pick.Shot{Record: &etw.Record{Clock: &etw.Clock{}}, Event: &etw.EventInfo{Name: "E"}, Values: d}
}

func TestFieldRefs(t *testing.T) {
	s := fieldShot(t)
	for name, want := range map[string]struct {
		text string
		sum  float64
	}{
		"float": {"1.5", 1.5}, "ID": {"00000000-0000-0000-0000-000000000000", 0}, "Text": {"text", 0}, "Points.X": {"1 3", 4}, "points.y": {"2 4", 6},
		"List": {"[5 6]", 11}, "Nothing": {"", 0}, "Points.Z": {"", 0}, "Points": {"[{X=1 Y=2} {X=3 Y=4}]", 0},
	} {
		ref := newFieldRef(name)
		if got := ref.text(s); got != want.text {
			t.Errorf("%s is %q, want %q", name, got, want.text)
		}
		var x total
		ref.each(s, x.add)
		if x.sum != want.sum {
			t.Errorf("the numbers of %s add up to %v, want %v", name, x.sum, want.sum)
		}
		key, ok := ref.appendKey(nil, s)
		if _, known, _ := ref.find(s); ok != (known.Kind() != etw.ValueNone) || ok && len(key) == 0 {
			t.Errorf("the key of %s is %x, %v", name, key, ok)
		}
	}
	empty := &pick.Shot{Record: s.Record, Event: s.Event}
	if _, ok := newFieldRef("Float").value(empty); ok {
		t.Error("an event without values has one")
	}
}

// TestGroupsOfFields groups by values that are no plain numbers.
func TestGroupsOfFields(t *testing.T) {
	st := &stat{by: []string{"Float", "Points.X", "ID", "Text", "List"}, every: time.Second}
	g := newGroups(st)
	s := fieldShot(t)
	s.Elapsed = -1
	g.add(s)
	g.add(s)
	s.Elapsed = 3e9
	g.add(s)
	if len(g.list) != 2 || g.list[0].count != 2 || g.list[0].bucket != -1 || g.counted != 3 {
		t.Errorf("%d groups of %d events", len(g.list), g.counted)
	}
	tab := show.NewTable(g.columns(true)...)
	g.fill(tab, pick.NewNames())
	for _, row := range tab.Rows {
		if len(row) != len(tab.Columns) {
			t.Errorf("%d cells for %d columns", len(row), len(tab.Columns))
		}
	}
	got := showtest.Printed(t, show.FormatCSV, 0, func(p *show.Printer) {
		if err := tab.Write(p); err != nil {
			t.Fatal(err)
		}
	})
	if got != "ms,count,bytes,undecodable,Float,Points.X,ID,Text,List\n-1000,2,0,0,1.5,1 3,00000000-0000-0000-0000-000000000000,text,[5 6]\n3000,1,0,0,1.5,1 3,00000000-0000-0000-0000-000000000000,text,[5 6]\n" {
		t.Errorf("printed %q", got)
	}
}
