package lake

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/export/parquet"
	"github.com/etwgen/etwgen/internal/builtin"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
	"github.com/etwgen/etwgen/trace"
)

// some are the traces that are always held against DuckDB: of every format and with
// every kind of field. ETWGEN_LAKE=all is for all of the corpus.
var some = []string{
	"dotnet10/gc-workstation.nettrace", "dotnet10/aspnet.nettrace", "dotnet10/eventsource.nettrace", "dotnet10/v6-tracepoints.nettrace",
	"dotnet10/counters.nettrace", "dotnet10/netperf-gc.netperf", "etl/gcevents.etl", "etl/primitive-types.etl",
	"etl/SelfDescribingSingleEvent.etl", "etl/filtrace_etw.etl", "nettrace/eventpipe-dotnetcore5.0-win-x64-arraytypes.nettrace",
}

func isTrace(path string) bool {
	path = strings.TrimSuffix(path, ".gz")
	return slices.Contains([]string{".etl", ".nettrace", ".netperf"}, filepath.Ext(path))
}

// traces returns the traces to test with.
func traces(t *testing.T) []string {
	dir := corpus.Dir(t)
	var list []string
	if os.Getenv("ETWGEN_LAKE") != "all" {
		for _, name := range some {
			list = append(list, corpus.File(t, strings.Split(name, "/")...))
		}
		return list
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && isTrace(path) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCorpus exports traces, and asks DuckDB for the values of the decoders.
func TestCorpus(t *testing.T) {
	d := startDuck(t)
	list := traces(t)
	good, tables, columns, values := 0, 0, 0, int64(0)
	for i, path := range list {
		c := &comparison{t: t, duck: d, dir: t.TempDir(), types: parquet.Types(i % 2)}
		if c.run(path) {
			good++
		}
		tables, columns, values = tables+c.tables, columns+c.columns, values+c.values
	}
	t.Logf("%d of %d traces: %d types of events, %d columns, %d values", good, len(list), tables, columns, values)
	if good != len(list) {
		t.Errorf("DuckDB finds what the decoders say in %d of %d traces", good, len(list))
	}
}

// A comparison holds one trace against its lake.
type comparison struct {
	t       *testing.T
	duck    *engine
	dir     string
	types   parquet.Types
	tables  int
	columns int
	values  int64
}

// kind is one type of events: its description in the manifest.
type kind struct{ provider, event string }

// run exports a trace and compares. It reports whether all agrees.
func (c *comparison) run(path string) bool {
	tr, err := trace.Open(path)
	if err != nil {
		return true // it is no trace
	}
	defer tr.Close()
	var files []*parquet.File
	o := parquet.Options{Dir: c.dir, Trace: filepath.Base(path), Types: c.types, Decoder: builtin.NewDecoder()}
	for _, p := range builtin.Providers {
		o.Providers = append(o.Providers, p.Provider)
	}
	m, err := parquet.Export(context.Background(), tr, o, nil)
	if err != nil {
		c.t.Errorf("%s: %v", path, err)
		return false
	}
	files = m.Files
	if n := tr.Stats().Records; m.Events != n {
		c.t.Errorf("%s: %d events of %d", path, m.Events, n)
		return false
	}
	byKind := make(map[kind][]*parquet.File)
	for _, f := range files {
		if f.Table != "" {
			continue
		}
		k := kind{f.Provider, f.Event}
		byKind[k] = append(byKind[k], f)
	}
	want, err := c.expect(path, byKind)
	if err != nil {
		c.t.Errorf("%s: %v", path, err)
		return false
	}
	ok := true
	for k, of := range byKind {
		if err := c.compare(k, of, want[k]); err != nil {
			c.t.Errorf("%s: %s/%s: %v", path, k.provider, k.event, err)
			ok = false
		}
	}
	return ok
}

// A table is the wanted form of a type of events.
type table struct {
	kinds   map[string]duckType // columns, in lower case
	names   []string
	count   map[string]int64
	sum     map[string]*big.Int
	rows    int64
	version map[uint8]int64
}

// source returns the query source that reads the files of a type of events.
func (c *comparison) source(of []*parquet.File) string {
	var list []string
	for _, f := range of {
		list = append(list, "'"+strings.ReplaceAll(filepath.ToSlash(filepath.Join(c.dir, f.Path)), "'", "''")+"'")
	}
	return "read_parquet([" + strings.Join(list, ",") + "], union_by_name=true, hive_partitioning=false)"
}

// expect reads a trace once more and sums up the wanted values of the columns.
func (c *comparison) expect(path string, byKind map[kind][]*parquet.File) (map[kind]*table, error) {
	tr, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer tr.Close()
	all := make(map[kind]*table)
	for k, of := range byKind {
		a, err := c.duck.ask("DESCRIBE SELECT * FROM " + c.source(of))
		if err != nil {
			return nil, err
		}
		tb := &table{kinds: make(map[string]duckType), count: make(map[string]int64), sum: make(map[string]*big.Int), version: make(map[uint8]int64)}
		for _, row := range a.Rows {
			name := row[0].(string)
			tb.names = append(tb.names, name)
			tb.kinds[strings.ToLower(name)] = parseType(row[1].(string))
			tb.sum[strings.ToLower(name)] = new(big.Int)
		}
		all[k] = tb
	}
	// Events have the names that the decoder gives them, without that of the version.
	find := make(map[*etw.EventInfo]*table)
	dec := builtin.NewDecoder()
	for r := range tr.Records() {
		if r == nil {
			break // what is wrong with the trace, after all that is good
		}
		values, _ := dec.Decode(r)
		info := dec.Event(r)
		tb := find[info]
		if tb == nil {
			if tb = all[kind{info.Provider, nameOf(info, r)}]; tb == nil {
				return nil, fmt.Errorf("%s/%s is in no file", info.Provider, nameOf(info, r))
			}
			find[info] = tb
		}
		tb.add(c, r, values)
	}
	return all, nil
}

// nameOf returns the name of all versions of an event.
func nameOf(info *etw.EventInfo, r *etw.Record) string {
	if info.Desc != nil && info.Desc.Name != "" {
		if i := strings.LastIndex(info.Name, "_V"); i > 0 {
			if _, err := strconv.Atoi(info.Name[i+2:]); err == nil {
				return info.Name[:i]
			}
		}
		return info.Name
	}
	if id := strconv.Itoa(int(r.ID)); r.Kind == etw.KindManifest && !strings.HasSuffix(info.Name, id) {
		return info.Name + "." + id
	}
	return info.Name
}

// put adds a value to a column.
func (tb *table) put(c *comparison, name string, n *big.Int) {
	name = strings.ToLower(name)
	tb.count[name]++
	c.values++
	if s := tb.sum[name]; s != nil {
		s.Add(s, n)
	}
}

// add adds the wanted row of an event.
func (tb *table) add(c *comparison, r *etw.Record, values etw.Described) {
	tb.rows++
	tb.version[r.Version]++
	at := r.Clock.FileTime(r.Timestamp)
	tb.putTime(c, "time", at.Time().UnixNano())
	tb.put(c, "time_ns", integer(at.Time().UnixNano()))
	for name, v := range map[string]int64{"pid": r.ProcessID, "tid": r.ThreadID, "cpu": int64(r.Processor)} {
		if v >= 0 {
			tb.put(c, name, integer(v))
		}
	}
	for name, g := range map[string]etw.GUID{"activity": r.ActivityID, "related": r.RelatedActivityID} {
		if !g.IsZero() {
			tb.put(c, name, hashed([]byte(g.String())))
		}
	}
	tb.put(c, "version", integer(int64(r.Version)))
	if values == nil {
		tb.put(c, "payload", hashed(r.Payload))
		return
	}
	fields := values.EventDesc().Fields
	for i := range fields {
		v := values.FieldValue(i)
		if v.Kind() == etw.ValueNone {
			continue
		}
		name := tb.column(etw.UniqueName(fields, i), r.Version, &fields[i])
		t, ok := tb.kinds[strings.ToLower(name)]
		if !ok {
			c.t.Errorf("there is no column %s", name)
			continue
		}
		if n := expected(v, &fields[i], t); n != nil {
			tb.put(c, name, n)
		}
		if k := v.Kind(); (k == etw.ValueFileTime || k == etw.ValueSystemTime) && t.name == "TIMESTAMP WITH TIME ZONE" {
			if n := nanoseconds(v); n != nil {
				tb.put(c, name+"_ns", n)
			}
		}
		if m := fields[i].Map; m != nil && m.Flags && fields[i].Count.Kind == etw.SizeNone {
			tb.put(c, name+"_value", integer(int64(uint32(v.Uint()))))
		}
	}
}

// column returns the name that a field has as a column.
func (tb *table) column(name string, version uint8, d *etw.FieldDesc) string {
	switch strings.ToLower(name) {
	case "time", "time_ns", "pid", "tid", "cpu", "activity", "related", "version", "trace", "trace_id", "host", "service", "service_version",
		"container", "pod", "labels", "event", "table", "date", "payload":
		return "field_" + name
	}
	own := fmt.Sprintf("%s_v%d", name, version)
	if _, ok := tb.kinds[strings.ToLower(own)]; ok {
		nested := tb.kinds[strings.ToLower(name)].name == "LIST" || tb.kinds[strings.ToLower(name)].name == "STRUCT"
		if is := d.Count.Kind != etw.SizeNone || d.Type == etw.InStruct; is != nested {
			return own
		}
	}
	return name
}

func integer(n int64) *big.Int { return big.NewInt(n) }

func hashed(p []byte) *big.Int {
	h := md5.Sum(p)
	return new(big.Int).SetUint64(binary.LittleEndian.Uint64(h[8:]))
}

// expected returns the number that stands for a value, nil for a null.
func expected(v etw.Value, d *etw.FieldDesc, t duckType) *big.Int {
	switch t.name {
	case "LIST":
		return expectedList(v, t)
	case "STRUCT":
		sum := new(big.Int)
		for i, m := range v.Members() {
			fields := v.Desc().Fields
			k := slices.IndexFunc(t.members, func(of member) bool { return of.name == etw.UniqueName(fields, i) })
			if n := expected(m, &fields[i], t.members[k].typ); n != nil {
				sum.Add(sum, n)
			}
		}
		return sum
	}
	return expectedScalar(v, d, t)
}

func expectedList(v etw.Value, t duckType) *big.Int {
	sum := new(big.Int)
	for e := range v.Elements() {
		sum.Add(sum, integer(1))
		if n := expected(e, e.Desc(), t.members[0].typ); n != nil {
			sum.Add(sum, n)
		}
	}
	return sum
}

func expectedScalar(v etw.Value, d *etw.FieldDesc, t duckType) *big.Int {
	switch t.name {
	case "UUID":
		return hashed([]byte(v.GUID().String()))
	case "BLOB":
		return hashed(v.Bytes())
	case "VARCHAR":
		return hashed(etw.AppendFieldPlain(nil, d, v))
	case "BOOLEAN":
		if v.Bool() {
			return integer(1)
		}
		return integer(0)
	case "FLOAT", "DOUBLE":
		if f := v.Float(); math.Abs(f) < 1e9 {
			return integer(int64(math.Round(f * 1e6)))
		}
		return integer(0)
	case "TIMESTAMP_NS":
		return nanoseconds(v)
	case "TIMESTAMP WITH TIME ZONE":
		if n := nanoseconds(v); n != nil {
			return n.Div(n, integer(1000)) // to the lower one, as Euclid has it
		}
		return nil
	}
	if d.Out == etw.OutPort {
		return integer(int64(v.Uint()>>8&0xff | v.Uint()&0xff<<8))
	}
	if v.Kind() == etw.ValueInt {
		return integer(v.Int())
	}
	return new(big.Int).SetUint64(v.Uint())
}

// nanoseconds returns the time that v is, nil if it is no time or too far away.
func nanoseconds(v etw.Value) *big.Int {
	at := v.FileTime().Time()
	if v.Kind() == etw.ValueSystemTime {
		at = v.SystemTime().Time()
	}
	if at.Year() < 1678 || at.Year() > 2261 {
		return nil
	}
	return integer(at.UnixNano())
}

// putTime adds a time to a column, in the unit that it has.
func (tb *table) putTime(c *comparison, name string, ns int64) {
	n := integer(ns)
	if tb.kinds[name].name == "TIMESTAMP WITH TIME ZONE" {
		n.Div(n, integer(1000))
	}
	tb.put(c, name, n)
}

// compare asks DuckDB for the values of a table.
func (c *comparison) compare(k kind, of []*parquet.File, want *table) error {
	c.tables++
	c.columns += len(want.names)
	expr := []string{"count(*)"}
	for _, name := range want.names {
		expr = append(expr, "count("+quote(name)+")", "sum("+want.kinds[strings.ToLower(name)].digest(quote(name), 0)+")::VARCHAR")
	}
	a, err := c.duck.ask("SELECT " + strings.Join(expr, ", ") + " FROM " + c.source(of))
	if err != nil {
		return err
	}
	row := a.Rows[0]
	if got := fmt.Sprint(row[0]); got != strconv.FormatInt(want.rows, 10) {
		return fmt.Errorf("%s rows, not %d", got, want.rows)
	}
	versions := make(map[int]int64)
	for _, f := range of {
		for v, n := range f.Versions {
			versions[v] += n
		}
	}
	for v, n := range want.version {
		if versions[int(v)] != n {
			return fmt.Errorf("the manifest has %d of version %d, not %d", versions[int(v)], v, n)
		}
	}
	for i, name := range want.names {
		key := strings.ToLower(name)
		if key == "trace" || key == "trace_id" {
			continue
		}
		if got := fmt.Sprint(row[1+2*i]); got != strconv.FormatInt(want.count[key], 10) {
			return fmt.Errorf("column %s: %s values, not %d", name, got, want.count[key])
		}
		if got := fmt.Sprint(row[2+2*i]); got != want.sum[key].String() {
			return fmt.Errorf("column %s: %s, not %s", name, got, want.sum[key])
		}
	}
	return nil
}
