package tracepoints

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The table is read as a whole, and its providers have the GUIDs that readers give them.
func TestTable(t *testing.T) {
	names := Names()
	all, err := readTable(tableText)
	if err != nil || len(names) != len(all) || len(all) < 38 {
		t.Fatalf("%d names, %d events: %v", len(names), len(all), err)
	}
	for _, name := range names {
		d := Event(name)
		if d == nil || d.Provider.Name+"/"+d.Name != name || d.Provider.GUID != nettrace.ProviderGUID(d.Provider.Name) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if Event("sched/nothing") != nil {
		t.Error("an event that there is not")
	}
	for _, bad := range []string{"a/b\n c float\n", "a/b\n c i32 i64\n"} {
		if _, err := readTable(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// record makes a record of sched_process_fork, whose texts lie behind it.
func record() []byte {
	p := binary.LittleEndian.AppendUint16(nil, 366)
	p = append(p, 1, 0)
	p = binary.LittleEndian.AppendUint32(p, 42)
	p = binary.LittleEndian.AppendUint32(p, 24|5<<16)
	p = binary.LittleEndian.AppendUint32(p, 42)
	p = binary.LittleEndian.AppendUint32(p, 29|4<<16)
	p = binary.LittleEndian.AppendUint32(p, 43)
	p = append(p, "bash\x00cat\x00"...)
	return append(p, make([]byte, 36-len(p))...)
}

func decode(t *testing.T, payload []byte, schema *etw.EventDesc) (string, []byte) {
	t.Helper()
	d := etw.NewDecoder()
	d.Find = Of
	r := &etw.Record{Provider: nettrace.ProviderGUID("sched"), ProviderName: "sched", PointerSize: etw.Ptr64, Payload: payload, Schema: schema}
	v, err := d.Decode(r)
	if err != nil || v == nil {
		t.Fatal(err)
	}
	return string(etw.AppendText(nil, v)), d.Rest()
}

func TestOf(t *testing.T) {
	says := func(names ...string) *etw.EventDesc {
		d := &etw.EventDesc{Name: "sched_process_fork", Named: true}
		for _, n := range names {
			d.Fields = append(d.Fields, etw.FieldDesc{Name: n, Type: etw.InUInt32})
		}
		return d
	}
	text, rest := decode(t, record(), says("common_type", "common_flags"))
	const want = `sched_process_fork common_type=366 common_flags=0x1 common_preempt_count=0 common_pid=42 parent_comm=bash parent_pid=42 child_comm=cat child_pid=43`
	if text != want || rest != nil {
		t.Errorf("got %s, rest %x; want %s", text, rest, want)
	}
	// Another kernel has other fields, or fewer.
	for _, text := range []string{
		first(decode(t, record(), says("common_type", "common_colour"))),
		first(decode(t, record()[:20], says("common_type"))),
	} {
		if strings.Contains(text, "bash") {
			t.Error(text)
		}
	}
	if Of(&etw.Record{ProviderName: "sched"}) != nil {
		t.Error("a record without a schema")
	}
}

func first(s string, _ []byte) string { return s }

// formatText is a format of our own making.
const formatText = `name: bread_baked
ID: 77
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:bool done;	offset:8;	size:1;	signed:0;
	field:char kind[8];	offset:9;	size:8;	signed:0;
	field:const void * oven;	offset:24;	size:8;	signed:0;
	field:u16 sizes[2];	offset:32;	size:4;	signed:0;
	field:__data_loc char[] label;	offset:36;	size:4;	signed:0;
	field:struct shelf place;	offset:40;	size:3;	signed:0;
	field:s8 warmth;	offset:43;	size:1;	signed:1;

print fmt: "%s", REC->kind
`

func TestFormats(t *testing.T) {
	list, err := Formats(fstest.MapFS{"bakery/bread_baked/format": {Data: []byte(formatText)}, "bakery/bread_baked/id": {Data: []byte("77\n")}})
	if err != nil || len(list) != 1 || len(list[0].Events) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	d := list[0].Events[0]
	p := append(make([]byte, 8), 1)
	p = append(p, "rye\x00????"...)
	p = append(p, make([]byte, 24-len(p))...)
	p = binary.LittleEndian.AppendUint64(p, 0x1000)
	p = append(p, 1, 0, 2, 0)
	p = binary.LittleEndian.AppendUint32(p, 44|3<<16)
	p = append(p, 9, 8, 7, 0xff)
	p = append(p, "ok\x00"...)
	var e etw.Dynamic
	if _, err := e.Decode(d, p, etw.Ptr64); err != nil {
		t.Fatal(err)
	}
	const want = `bread_baked common_type=0 common_flags=0 common_preempt_count=0 common_pid=0 done=true kind=rye oven=0x1000 sizes=[1 2] label=ok place=090807 warmth=-1`
	if got := e.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range []string{"", "name: x\n", "name: x\n\tfield:int a;\toffset:0;\n", "name: x\n\tfield:int a;\toffset:9;\tsize:4;\n",
		"name: x\n\tfield:int a;\toffset:0;\tsize:4;\n\tfield:int b;\toffset:2;\tsize:4;\n", "name: x\n\tfield:int a;\toffset:x;\tsize:4;\n", strings.Repeat("x", 1<<16+1)} {
		if d, err := ParseFormat("g", []byte(bad)); err == nil {
			t.Errorf("%q is read: %+v", bad, d)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add(formatText, []byte("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl"))
	f.Fuzz(func(_ *testing.T, text string, payload []byte) {
		d, err := ParseFormat("g", []byte(text))
		if err != nil {
			return
		}
		var e etw.Dynamic
		if _, err := e.DecodeLoose(d, payload, etw.Ptr64); err == nil {
			_ = e.String()
		}
	})
}

// The layouts are those that kernels state.
func TestFacts(t *testing.T) {
	file, err := os.Open(filepath.Join(corpus.Facts(t), "linux-tracepoints.tsv"))
	if err != nil {
		corpus.Missing(t, err.Error())
	}
	defer file.Close()
	seen := map[string]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		c := strings.Split(lines.Text(), "\t")
		at, err := strconv.Atoi(c[4])
		if err != nil {
			continue
		}
		d := Event(c[0] + "/" + c[1])
		if d == nil {
			t.Fatalf("%s/%s is missing", c[0], c[1])
		}
		i := seen[c[1]]
		seen[c[1]]++
		offset, _ := (&etw.EventDesc{Fields: d.Fields[:i]}).Size(etw.Ptr64)
		if i > 0 && d.Fields[i-1].Room == 0 {
			before, _ := (&etw.EventDesc{Fields: d.Fields[:i]}).Size(etw.Ptr64)
			offset = before
		}
		if d.Fields[i].Name != c[2] || offset != at {
			t.Errorf("%s/%s: field %s at %d, want %s at %d", c[0], c[1], d.Fields[i].Name, offset, c[2], at)
		}
	}
	if len(seen) < 36 { // two groups have a sys_enter and a sys_exit each
		t.Errorf("%d events", len(seen))
	}
}
