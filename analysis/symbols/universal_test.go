package symbols

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A linux makes the events of recorders of Linux.
type linux struct {
	t *testing.T
	a *Analysis
}

func (l *linux) event(at, pid int64, name string, fields ...any) {
	l.t.Helper()
	var b []byte
	for _, f := range fields {
		switch f := f.(type) {
		case int:
			b = binary.AppendUvarint(b, uint64(f))
		case uint64:
			b = binary.AppendUvarint(b, f)
		case string:
			b = append(binary.LittleEndian.AppendUint16(b, uint16(len(f))), f...)
		}
	}
	r := &etw.Record{ProviderName: "Universal.System", Schema: &etw.EventDesc{Name: name}, ProcessID: pid, Timestamp: at, Payload: b}
	if err := l.a.record(r); err != nil {
		l.t.Fatal(err)
	}
}

func TestUniversal(t *testing.T) {
	var mux etw.Mux
	l := &linux{t, New(&mux)}
	const kernel = uint64(0xffffffff80000000)
	l.event(0, 1, "ProcessMapping", 1, 0x1000, 0x2000, 0x500, "/lib/a.so", 7, "", "")
	l.event(0, 1, "ProcessMapping", 2, 0x3000, 0x3fff, 0, "/lib/b.so", 0)
	l.event(0, -1, "ProcessMapping", 3, kernel, kernel+0x1000, 0, "vmlinux", 0)
	l.event(0, 1, "ProcessMappingMetadata", 7, `{"type":"ELF","build_id":"abcd"}`, "")
	l.event(0, 1, "ProcessMappingMetadata", 8, `rubbish`, "")
	l.event(0, 1, "ProcessSymbol", 1, 1, 0x1100, 0x110f, "bake")
	l.event(0, 1, "ProcessSymbol", 1, 1, 0x1100, 0x110f, "__bake") // another name of it
	l.event(0, 2, "ProcessSymbol", 1, 1, kernel+0x10, kernel+0x1f, "schedule")
	l.event(0, 1, "ProcessSymbol", 1, 1, 0x8000, 0x8010, "instance void [Shop] Bakery.Oven+Generic`1[System.__Canon]::Bake(int32)[OptimizedTier1]")
	l.event(50, 1, "ProcessMapping", 4, 0x1000, 0x1800, 0, "/lib/c.so", 0) // in the place of the first
	l.event(0, 1, "ProcessMapping", 5, 0x9000)                             // is cut off
	l.event(0, 1, "ProcessSymbol", 5, 1, 0x20, 0x10, "turned around")
	for _, test := range []struct {
		pid     int64
		address uint64
		at      int64
		want    string
		id      string
		inFile  bool
	}{
		{1, 0x1104, 10, "a.so!bake+0x4", "abcd", false},
		{1, 0x1200, 10, "a.so+0x700", "abcd", true},
		{1, 0x1200, 60, "c.so+0x200", "", true},
		{1, 0x1200, -5, "a.so+0x700", "abcd", true},
		{1, 0x3fff, 0, "b.so+0xfff", "", true},
		{1, 0x8001, 0, "Shop!Bakery.Oven+Generic`1[System.__Canon].Bake(int32)+0x1", "", false},
		{1, kernel + 0x1f, 0, "vmlinux!schedule+0xf", "", false},
		{9, kernel + 0x20, 0, "vmlinux+0x20", "", true},
		{1, 0x7000, 0, "", "", false},
		{2, 0x1104, 0, "", "", false},
	} {
		n, ok := l.a.Native(test.pid, test.address, time.Unix(0, test.at))
		if ok != (test.want != "") || ok && n.Text(0) != test.want || n.BuildID != test.id || n.InFile != test.inFile {
			t.Errorf("%d %#x at %d is %+v, %v; want %s", test.pid, test.address, test.at, n, ok, test.want)
		}
	}
}

func TestJitted(t *testing.T) {
	for name, want := range map[string]string{
		"void [Shop] Bakery.Oven::Bake(int32)[Tier1]":              "Shop!Bakery.Oven.Bake(int32)",
		"class [Core]Oven [Shop] Bakery.Till::Sell(class [Core]X)": "Shop!Bakery.Till.Sell(class [Core]X)",
		"std::vector<int>::push_back(int)":                         "std::vector<int>::push_back(int)",
		"stub<1>":                                                  "stub<1>",
		"void [Shop] A::B(int32[])":                                "Shop!A.B(int32[])",
	} {
		n := Jitted(name, 0)
		if got := n.Full(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func FuzzUniversal(f *testing.F) {
	f.Add(uint8(0), []byte{1, 0x80, 0x20, 0x80, 0x40, 0, 1, 0, 'x', 0}, uint64(0x1001))
	f.Add(uint8(1), []byte{1, 1, 0x80, 0x20, 0x80, 0x40, 1, 0, 'x'}, uint64(0x1001))
	f.Fuzz(func(t *testing.T, kind uint8, payload []byte, address uint64) {
		var mux etw.Mux
		a := New(&mux)
		names := []string{"ProcessMapping", "ProcessSymbol", "ProcessMappingMetadata"}
		for i := range 3 {
			r := &etw.Record{ProviderName: "Universal.System", Schema: &etw.EventDesc{Name: names[(int(kind)+i)%3]}, Payload: payload}
			if err := a.record(r); err != nil {
				t.Fatal(err)
			}
		}
		n, _ := a.Native(0, address, time.Unix(0, 0))
		_ = n.Text(1)
	})
}
