package kernel

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

// The tables of facts describe every field of every version of every event. The tests hold
// the package against them row by row.

// table reads a table: a map for each line, by the names of the columns.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	text := testio.Read(t, filepath.Join(corpus.Facts(t), name))
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	columns := strings.Split(lines[0], "\t")
	rows := make([]map[string]string, 0, len(lines)-1)
	for _, line := range lines[1:] {
		row := make(map[string]string)
		for i, cell := range strings.Split(line, "\t") {
			row[columns[i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// tableType is the meaning of a type in the tables.
var tableTypes = map[string]struct {
	in  etw.InType
	out etw.OutType // where it is not free
}{
	"u8": {in: etw.InUInt8}, "i8": {in: etw.InInt8}, "u16": {in: etw.InUInt16}, "i16": {in: etw.InInt16},
	"u32": {in: etw.InUInt32}, "i32": {in: etw.InInt32}, "u64": {in: etw.InUInt64}, "i64": {in: etw.InInt64},
	"ptr": {in: etw.InPointer}, "size": {etw.InPointer, etw.OutUInt64},
	"wstr": {in: etw.InUnicodeString}, "astr": {in: etw.InAnsiString}, "wchar": {in: etw.InUnicodeString},
	"sid": {in: etw.InWBEMSID}, "guid": {in: etw.InGUID}, "filetime": {in: etw.InFileTime},
	"qpc": {etw.InUInt64, etw.OutETWTime}, "systemtime": {in: etw.InSystemTime}, "bin": {in: etw.InBinary},
	"port": {etw.InUInt16, etw.OutPort}, "ipv4": {etw.InUInt32, etw.OutIPv4}, "ipv6": {etw.InBinary, etw.OutIPv6},
	"struct": {in: etw.InStruct},
}

// size returns a Count or Length as the tables write it.
func size(s etw.Size, fields []etw.FieldDesc) string {
	switch s.Kind {
	case etw.SizeConst:
		return strconv.Itoa(int(s.N))
	case etw.SizeField:
		return fields[s.N].Name
	case etw.SizeRest:
		return "rest"
	}
	return ""
}

// condition returns a When as the tables write it.
func condition(w etw.When) string {
	switch {
	case w.Ptr != 0:
		return fmt.Sprintf("ptr%d", w.Ptr)
	case w.Left > 1:
		return fmt.Sprintf("rest>=%d", w.Left)
	case w.Left == 1:
		return "rest"
	}
	return ""
}

// checkField reports how a field differs from its row.
func checkField(d *etw.FieldDesc, fields []etw.FieldDesc, row map[string]string) error {
	typ := row["type"]
	want := tableTypes[typ]
	if typ == "i8" && row["map"] != "" {
		want.in = etw.InUInt8 // which has a map
	}
	count := size(d.Count, fields)
	switch {
	case typ == "wchar", typ == "bin":
		count = size(d.Length, fields)
	case typ == "ipv6" && size(d.Length, fields) != "16":
		return fmt.Errorf("an IPv6 address of length %s", size(d.Length, fields))
	}
	when := row["condition"]
	if count == "rest" && when == "rest" {
		when = "" // such a field may be empty
	}
	switch {
	case d.Name != row["name"] && !strings.HasSuffix(row["name"], "."+d.Name):
		return fmt.Errorf("name %s, want %s", d.Name, row["name"])
	case d.Type != want.in || want.out != 0 && d.Out != want.out:
		return fmt.Errorf("type %v %v, want %s", d.Type, d.Out, typ)
	case count != row["count"]:
		return fmt.Errorf("count %q, want %q", count, row["count"])
	case condition(d.When) != when:
		return fmt.Errorf("condition %q, want %q", condition(d.When), when)
	case row["map"] == "NTSTATUS" && d.Out != etw.OutNTStatus:
		return fmt.Errorf("a status that is rendered as %v", d.Out)
	case row["map"] != "" && row["map"] != "NTSTATUS" && typ != "u64" && (d.Map == nil || d.Map.Name != row["map"]):
		return fmt.Errorf("map %v, want %s", d.Map, row["map"])
	}
	return nil
}

// checkFields reports how fields differ from the rows of their layout.
func checkFields(fields []etw.FieldDesc, rows []map[string]string) error {
	n := 0
	next := func() map[string]string {
		if n++; n > len(rows) {
			return map[string]string{"name": "nothing"}
		}
		return rows[n-1]
	}
	for i := range fields {
		d := &fields[i]
		if err := checkField(d, fields, next()); err != nil {
			return fmt.Errorf("field %s: %w", d.Name, err)
		}
		for j := range d.Fields {
			if err := checkField(&d.Fields[j], d.Fields, next()); err != nil {
				return fmt.Errorf("member %s of %s: %w", d.Fields[j].Name, d.Name, err)
			}
		}
	}
	if n != len(rows) {
		return fmt.Errorf("%d fields, want %d", n, len(rows))
	}
	return nil
}

// TestTables: every row of the tables has a type with just those fields, and
// every type a row.
func TestTables(t *testing.T) {
	classes := make(map[string]etw.GUID)
	for _, row := range table(t, "kernel-providers.tsv") {
		if row["guid"] != "" {
			classes[row["task"]] = etw.MustParseGUID(row["guid"])
		}
	}
	layouts := make(map[string][]map[string]string)
	for _, row := range table(t, "kernel-fields.tsv") {
		if layouts[row["layout"]] == nil {
			layouts[row["layout"]] = []map[string]string{}
		}
		if row["type"] != "none" {
			layouts[row["layout"]] = append(layouts[row["layout"]], row)
		}
	}
	registry := etw.NewRegistry(Provider)
	seen := make(map[*etw.EventDesc]bool)
	opcodes, versions, fields := 0, 0, 0
	for _, row := range table(t, "kernel-events.tsv") {
		opcodes++
		if row["versions"] == "-" {
			continue // nothing but its name is known
		}
		opcode, err := strconv.ParseUint(row["opcode"], 10, 8)
		if err != nil {
			t.Fatal(err)
		}
		for pair := range strings.SplitSeq(row["layouts"], ",") {
			number, layout, _ := strings.Cut(pair, ":")
			version, err := strconv.ParseUint(number, 10, 8)
			if err != nil {
				t.Fatal(err)
			}
			rows, ok := layouts[layout]
			d := registry.Lookup(etw.Key{Kind: etw.KindClassic, Provider: classes[row["task"]], ID: uint16(opcode), Version: uint8(version)})
			if d == nil || !ok {
				t.Errorf("%s/%d version %d: no type", row["task"], opcode, version)
				continue
			}
			if err := checkFields(d.Fields, rows); err != nil {
				t.Errorf("%s version %d: %v", d.Title(), version, err)
			}
			seen[d] = true
			versions++
			fields += len(rows)
		}
	}
	if opcodes != 626 || versions != 705 || len(layouts) != 409 {
		t.Errorf("the tables have %d opcodes, %d versions and %d layouts", opcodes, versions, len(layouts))
	}
	if len(seen) != len(Provider.Events) {
		t.Errorf("%d types, of which %d are in the tables", len(Provider.Events), len(seen))
	}
	t.Logf("%d versions of %d opcodes in %d layouts: %d fields", versions, opcodes, len(layouts), fields)
}

// TestTableMaps: every value of the tables has its name.
func TestTableMaps(t *testing.T) {
	maps := make(map[string]*etw.MapDesc)
	var collect func(fields []etw.FieldDesc)
	collect = func(fields []etw.FieldDesc) {
		for i := range fields {
			if m := fields[i].Map; m != nil {
				maps[m.Name] = m
			}
			collect(fields[i].Fields)
		}
	}
	for _, d := range Provider.Events {
		collect(d.Fields)
	}
	checked := 0
	for _, row := range table(t, "kernel-maps.tsv") {
		m := maps[row["map"]]
		if m == nil {
			continue // no field of 32 bits or less has it
		}
		v, err := strconv.ParseUint(row["value"], 0, 32)
		if err != nil {
			t.Fatal(err)
		}
		if name, _ := m.Lookup(uint32(v)); name != row["name"] || m.Flags != (row["kind"] == "bit") {
			t.Errorf("value %#x of %s is %q, want %q", v, m.Name, name, row["name"])
		}
		checked++
	}
	if checked < 300 {
		t.Errorf("only %d values", checked)
	}
}

// TestSystemProvidersOfFacts: the keywords of SystemProviders are those of the table.
func TestSystemProvidersOfFacts(t *testing.T) {
	want := make(map[string]uint64)
	for _, row := range table(t, "kernel-system-providers.tsv") {
		if v, err := strconv.ParseUint(row["value"], 0, 64); err == nil { // of one the value is not known
			want[row["guid"]+" "+row["keyword"]] = v
		}
	}
	n := 0
	for _, p := range SystemProviders {
		for _, k := range p.Keywords {
			if n++; want[strings.Trim(p.Desc.GUID.String(), "{}")+" "+k.Name] != k.Mask {
				t.Errorf("%s has %s of %#x", p.Desc.Name, k.Name, k.Mask)
			}
		}
	}
	if n != len(want) {
		t.Errorf("%d keywords, the table has %d", n, len(want))
	}
}
