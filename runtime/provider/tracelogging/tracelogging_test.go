package tracelogging_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/provider"
	"github.com/etwgen/etwgen/runtime/provider/tracelogging"
	"github.com/etwgen/etwgen/runtime/schema"
)

type place struct {
	X, Y int16
	Name string
}

type Common struct {
	Host    string
	private int
	Port    uint16 `etw:"port,port"`
}

// everything has all that can be written.
type everything struct {
	Common
	Yes     bool
	I8      int8
	U8      uint8
	I16     int16
	U16     uint16
	I32     int32
	U32     uint32
	I64     int64
	U64     uint64
	Int     int
	Uint    uint
	Word    uintptr
	F32     float32
	F64     float64
	Text    string
	Wide    string `etw:",utf16"`
	Counted string `etw:",counted"`
	JSON    string `etw:",json"`
	XML     string `etw:",xml"`
	Data    []byte
	Bytes   [3]byte
	When    time.Time
	Never   time.Time
	Took    time.Duration
	File    etw.FileTime
	System  etw.SystemTime
	ID      etw.GUID
	Pointer etw.Pointer
	SID     etw.SID
	Old     etw.Bool
	UTF16   etw.UTF16
	ANSI    etw.ANSI
	Hex     uint32 `etw:",hex"`
	Hex8    uint8  `etw:",hex"`
	PID     uint32 `etw:",pid"`
	TID     uint32 `etw:",tid"`
	IP      uint32 `etw:",ipv4"`
	Code    uint32 `etw:",win32error"`
	Status  uint32 `etw:",ntstatus"`
	Result  int32  `etw:",hresult"`
	Place   place
	Places  []place
	Numbers []uint32
	Pair    [2]int64
	Words   []string
	Flags   []bool
	IDs     []etw.GUID
	Empty   []float64
	Left    int `etw:"-"`
	Last    int8
}

func value() *everything {
	return &everything{
		Common: Common{Host: "host", private: 1, Port: 0x5000}, Yes: true, I8: -1, U8: 2, I16: -3, U16: 4, I32: -5, U32: 6, I64: -7, U64: 8, Int: -9, Uint: 10, Word: 11,
		F32: 1.5, F64: -2.5, Text: "käse", Wide: "breit 🧀", Counted: "a\x00b", JSON: `{"a":1}`, XML: "<a/>", Data: []byte{1, 2}, Bytes: [3]byte{3, 4, 5},
		When: time.Date(2024, 2, 3, 4, 5, 6, 700, time.UTC), Took: time.Second, File: 12, System: etw.SystemTime{Year: 2024, Month: 2, Day: 3}, ID: etw.GUID{1}, Pointer: 13,
		SID: etw.MakeSID(5, 18), Old: etw.True, UTF16: etw.MakeUTF16("units"), ANSI: etw.ANSI("ansi"), Hex: 255, Hex8: 15, PID: 100, TID: 200, IP: 0x0100007f, Code: 5, Status: 0xc0000005, Result: -2147024891,
		Place: place{1, 2, "here"}, Places: []place{{3, 4, "there"}, {5, 6, ""}}, Numbers: []uint32{7, 8}, Pair: [2]int64{9, -10}, Words: []string{"a", "", "b"}, Flags: []bool{true, false}, IDs: []etw.GUID{{2}, {3}},
		Left: 1, Last: -1,
	}
}

// want is how the event is shown.
const want = `everything Host=host port=80 Yes=true I8=-1 U8=2 I16=-3 U16=4 I32=-5 U32=6 I64=-7 U64=8 Int=-9 Uint=10 Word=0xb F32=1.5 F64=-2.5 Text=käse Wide="breit 🧀" Counted="a\x00b" JSON="{\"a\":1}" XML=<a/> Data=0102 Bytes=[3 4 5] When=2024-02-03T04:05:06.0000007Z Never=1601-01-01T00:00:00.0000000Z Took=1000000000 File=1601-01-01T00:00:00.0000012Z System=2024-02-03T00:00:00.000Z ID=00000001-0000-0000-0000-000000000000 Pointer=0xd SID=S-1-5-18 Old=true UTF16=units ANSI=ansi Hex=0xff Hex8=0xf PID=100 TID=200 IP=127.0.0.1 Code=5 Status=0xc0000005 Result=0x80070005 Place={X=1 Y=2 Name=here} Places=[{X=3 Y=4 Name=there} {X=5 Y=6 Name=""}] Numbers=[7 8] Pair=[9 -10] Words=[a "" b] Flags=[true false] IDs=[00000002-0000-0000-0000-000000000000 00000003-0000-0000-0000-000000000000] Empty=[] Last=-1`

// define returns an event of T in a session that keeps it.
func define[T any](t *testing.T, name string, o tracelogging.Options, sink provider.Sink) *tracelogging.Event[T] {
	t.Helper()
	p := provider.New(&etw.ProviderDesc{Name: "Contoso-Shop"}, provider.To(provider.NewLocal(sink)))
	e, err := tracelogging.Define[T](p, name, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return e
}

// TestEverything: written events have the right schemas, and their values.
func TestEverything(t *testing.T) {
	var memory provider.Memory
	e := define[everything](t, "everything", tracelogging.Options{Level: etw.LevelWarning, Opcode: etw.OpcodeStart, Keywords: 6}, &memory)
	ctx := provider.NewActivity(provider.NewActivity(context.Background()))
	if err := e.Write(ctx, value()); err != nil {
		t.Fatal(err)
	}
	r := memory.Records()[0]
	a := provider.ActivityOf(ctx)
	if r.Channel != 11 || r.ID != 0 || r.Level != etw.LevelWarning || r.Opcode != etw.OpcodeStart || r.Keywords != 6 || r.ActivityID != a.ID || r.RelatedActivityID != a.Related {
		t.Errorf("the header is %+v", r)
	}
	check(t, r, r.Schema)
	r.Schema, r.ProviderName = nil, ""
	var set schema.Set
	set.Describe(r)
	if r.ProviderName != "Contoso-Shop" {
		t.Errorf("the provider is called %q", r.ProviderName)
	}
	if diff := cmp.Diff(e.Desc().Fields, r.Schema.Fields); diff != "" {
		t.Errorf("what the event says of itself differs (-want +got):\n%s", diff)
	}
	check(t, r, r.Schema)
}

// check compares an event by its text.
func check(t *testing.T, r *etw.Record, d *etw.EventDesc) {
	t.Helper()
	var dyn etw.Dynamic
	n, err := dyn.Decode(d, r.Payload, r.PointerSize)
	if err != nil || n != len(r.Payload) {
		t.Fatalf("read %d of %d bytes: %v", n, len(r.Payload), err)
	}
	if got := dyn.String(); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// TestFile: a file of the events is one that describes itself.
func TestFile(t *testing.T) {
	var file bytes.Buffer
	w := testio.Writer(t, etltest.NewWriter, &file, etltest.DefaultHeader())
	e := define[everything](t, "everything", tracelogging.Options{}, w)
	for range 3 {
		if err := e.Write(context.Background(), value()); err != nil {
			t.Fatal(err)
		}
	}
	testio.Close(t, w)
	reader := testio.ReaderAt(t, etl.NewReader, file.Bytes())
	n := 0
	for r := range testio.Records(t, reader.Records()) {
		if r.Provider != etw.NameGUID("Contoso-Shop") {
			continue
		}
		n++
		check(t, r, r.Schema)
	}
	if n != 3 {
		t.Errorf("%d events came out", n)
	}
}

type (
	list   struct{ Next []list }
	big    struct{ Text string }
	nested struct {
		A struct{ B []struct{ C chan int } }
	}
)

// TestUnwritable: a type that cannot be written has an error that names it.
func TestUnwritable(t *testing.T) {
	p := provider.New(&etw.ProviderDesc{Name: "Shop"})
	check := func(_ any, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ...%s", err, want)
		}
	}
	o := tracelogging.Options{}
	one := func(e any, err error) (any, error) { return e, err }
	e, err := one(tracelogging.Define[int](p, "E", o))
	check(e, err, "int is no struct")
	e, err = one(tracelogging.Define[list](p, "E", o))
	check(e, err, "lies in itself")
	e, err = one(tracelogging.Define[nested](p, "E", o))
	check(e, err, "A: B: C: a chan int cannot be written")
	e, err = one(tracelogging.Define[struct{ A [][]byte }](p, "E", o))
	check(e, err, "A: a list of []uint8 cannot be written")
	e, err = one(tracelogging.Define[struct{ A [][]int }](p, "E", o))
	check(e, err, "A: a []int cannot be written")
	e, err = one(tracelogging.Define[struct{ A [0]int }](p, "E", o))
	check(e, err, "an array of 0 elements")
	e, err = one(tracelogging.Define[struct{ A *int }](p, "E", o))
	check(e, err, "a *int cannot be written")
	e, err = one(tracelogging.Define[struct {
		A int64 `etw:",pid"`
	}](p, "E", o))
	check(e, err, `A: it cannot be written as "pid"`)
	e, err = one(tracelogging.Define[struct {
		A struct{ B int } `etw:",hex"`
	}](p, "E", o))
	check(e, err, `cannot be written as "hex"`)
	e, err = one(tracelogging.Define[struct{ A struct{} }](p, "E", o))
	check(e, err, "has no fields to write")
	e, err = one(tracelogging.Define[big](p, "E\x00", o))
	check(e, err, "contains a NUL")
	e, err = one(tracelogging.Define[big](p, strings.Repeat("E", 70000), o))
	check(e, err, "of at most 65535")
	if panics(func() { tracelogging.MustDefine[big](p, "E", o) }) || !panics(func() { tracelogging.MustDefine[int](p, "E", o) }) {
		t.Error("MustDefine panics where it must not, or not where it must")
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestBadValues: values that have no form in an event.
func TestBadValues(t *testing.T) {
	var memory provider.Memory
	e := define[everything](t, "everything", tracelogging.Options{}, &memory)
	for field, c := range map[string]struct {
		set  func(*everything)
		want error
	}{
		"Text":         {func(v *everything) { v.Text = "a\x00b" }, etw.ErrNUL},
		"Wide":         {func(v *everything) { v.Wide = "a\x00b" }, etw.ErrNUL},
		"ANSI":         {func(v *everything) { v.ANSI = etw.ANSI("a\x00b") }, etw.ErrNUL},
		"UTF16":        {func(v *everything) { v.UTF16 = etw.MakeUTF16("a\x00b") }, etw.ErrNUL},
		"SID":          {func(v *everything) { v.SID = nil }, etw.ErrSID},
		"Data":         {func(v *everything) { v.Data = make([]byte, 70000) }, etw.ErrLength},
		"Counted":      {func(v *everything) { v.Counted = strings.Repeat("a", 70000) }, etw.ErrLength},
		"Numbers":      {func(v *everything) { v.Numbers = make([]uint32, 70000) }, etw.ErrLength},
		"Places: Name": {func(v *everything) { v.Places[1].Name = "\x00" }, etw.ErrNUL},
	} {
		v := value()
		c.set(v)
		if err := e.Write(context.Background(), v); !errors.Is(err, c.want) || !strings.Contains(err.Error(), "everything: "+field+": ") {
			t.Errorf("%s: got %v, want %v", field, err, c.want)
		}
	}
	v := value()
	v.UTF16 = etw.UTF16("odd")
	if err := e.Write(context.Background(), v); !errors.Is(err, etw.ErrLength) {
		t.Errorf("half a code unit: %v", err)
	}
	if n := len(memory.Records()); n != 0 {
		t.Errorf("%d records were written", n)
	}
	if err := e.Write(context.Background(), value()); err != nil || len(memory.Records()) != 1 {
		t.Errorf("after that: %v", err)
	}
}

type discard struct{}

func (discard) Write(*etw.Record) error { return nil }

func TestAllocations(t *testing.T) {
	e := define[everything](t, "everything", tracelogging.Options{}, discard{})
	s := define[place](t, "place", tracelogging.Options{}, discard{})
	v := value()
	ctx := context.Background()
	n := testing.AllocsPerRun(1000, func() {
		_ = e.Write(ctx, v)
		_ = s.Write(ctx, &place{X: 1, Name: "there"}) // need not be on the heap
	})
	if n != 0 && !raceEnabled { // a pool forgets things on purpose then
		t.Errorf("writing allocates %v times", n)
	}
}

// TestDisabled: nothing is done for events that no session wants.
func TestDisabled(t *testing.T) {
	var memory provider.Memory
	p := provider.New(&etw.ProviderDesc{Name: "Shop"}, provider.To(provider.NewLocal(&memory, etw.Enable{Provider: &etw.ProviderDesc{GUID: etw.NameGUID("shop")}, Level: 4, Keywords: 1})))
	defer p.Close()
	none := tracelogging.MustDefine[place](p, "None", tracelogging.Options{Level: 4, Keywords: 2})
	low := tracelogging.MustDefine[place](p, "Low", tracelogging.Options{Keywords: 1})
	some := tracelogging.MustDefine[place](p, "Some", tracelogging.Options{Level: 4, Keywords: 3})
	for _, e := range []*tracelogging.Event[place]{none, low, some} {
		if err := e.Write(context.Background(), &place{}); err != nil || e.Enabled() {
			t.Errorf("before it is registered: %v", err)
		}
	}
	if err := p.Register(); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*tracelogging.Event[place]{none, low, some} {
		if err := e.Write(context.Background(), &place{Name: "\x00"}); (err != nil) != (e == some) {
			t.Errorf("%s: %v", e.Desc().Name, err)
		}
		if err := e.Write(context.Background(), &place{}); err != nil {
			t.Error(err)
		}
	}
	var names []string
	src := memory.Source()
	for r := (&etw.Record{}); src.Next(r) != io.EOF; {
		names = append(names, r.Schema.Name)
	}
	if want := []string{"Some"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}
