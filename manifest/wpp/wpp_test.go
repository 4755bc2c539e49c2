package wpp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/tests/corpus"
)

const shop = `// PDB: shop.pdb
5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Till.Main.c MJ= MN=
#typev Till_Main_c12 10 "%0 [%!FUNC!] sold %11!s! for %10!04d! cents, \"%12!s!\" (100%%, %!LEVEL!, %!FILE!:%!LINE!)" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_SALES FUNC=Sell
{
price, ItemLong -- 10
goods->Name, ItemPString -- 11
Check(a, ItemSize -- 1), ItemNTSTATUS -- 12
}
#typev Till_Main_c12 10 "%0 [%!FUNC!] again" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=TRACE_SALES FUNC=SellInlined
{
}
#typev Till_Main_c40 11 "%0%10!s! %11!s! 0x%12!02X! %13!p! %14!s! %15!x! %9!d! %!SUBCOMP!%!ODD! %16!-6s!|%17!s!" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=TRACE_OTHER FUNC=Till::Open
{
state, ItemListByte(Closed,Open=3,Locked) -- 10
flags, ItemSetLong(Card,Cash) -- 11
b, ItemUChar -- 12
p, ItemPtr -- 13
d, ItemDouble -- 14
l, ItemLong -- 15
s, ItemString -- 16
x, ItemNovel -- 17
y, ItemLong -- 18
}
5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Unknown_cxx00 MJ= MN=
#typev Unknown_cxx00 12 "%0%!LINE!%10!s!" //   GLOBALS=Of(till) LEVEL=0 Flags=TRACE_SALES FUNC=Till::Shut
{
Arg, ItemGuid -- 10
}
`

// message decodes a payload by a message of shop, and returns its text and fields.
func message(t *testing.T, id uint16, payload []byte) (text, fields string) {
	t.Helper()
	all, err := ReadTMF(strings.NewReader(shop))
	if err != nil {
		t.Fatal(err)
	}
	d := etw.NewDecoder(all...)
	r := &etw.Record{Kind: etw.KindMessage, Provider: all[0].Desc.GUID, ID: id, PointerSize: etw.Ptr64, Payload: payload}
	v, err := d.Decode(r)
	if err != nil || len(d.Rest()) > 0 {
		t.Fatalf("%v, rest %x", err, d.Rest())
	}
	return string(AppendMessage(nil, v, r.PointerSize)), string(etw.AppendFieldsText(nil, v))
}

// TestMessage: arguments stand in the text by their indices, in the forms of printf; the number of
// an expression in the text is none of an argument.
func TestMessage(t *testing.T) {
	le := binary.LittleEndian
	p := le.AppendUint32(nil, uint32(int32(-7+100)))
	p = append(append(p, 5, 0), "bread"...)
	p = le.AppendUint32(p, 0xc0000022)
	text, fields := message(t, 10, p)
	if want := `[Sell] sold bread for 0093 cents, \"0xc0000022(STATUS_ACCESS_DENIED)\" (100%, TRACE_LEVEL_ERROR, Till.Main.c:12)`; text != want {
		t.Errorf("the text is\n%s, want\n%s", text, want)
	}
	if want := `price=93 Name=bread arg12=0xC0000022`; strings.ReplaceAll(strings.ToLower(fields), `"`, "") != strings.ToLower(want) {
		t.Errorf("the fields are %s, want %s", fields, want)
	}
	p = append([]byte{4}, 3, 0, 0, 0, 0xab)
	p = le.AppendUint64(p, 0x1234)
	p = append(p, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f) // 1.5
	p = le.AppendUint32(p, 0xfffffffe)
	p = append(p, "ab\x00"...)
	p = append(p, 1, 2, 3)
	text, fields = message(t, 11, p)
	if want := "Locked Card|Cash 0xAB 0000000000001234 1.5 fffffffe %9!d! %!ODD! ab    |010203"; text != want {
		t.Errorf("the text is\n%s, want\n%s", text, want)
	}
	if !strings.Contains(fields, "x_ItemNovel=") {
		t.Errorf("the fields %s do not say which type is not known", fields)
	}
}

// TestPublic: a message that a PDB for everybody has is named by its function, since nothing is said
// of file and line.
func TestPublic(t *testing.T) {
	text, fields := message(t, 12, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	if want := "{04030201-0605-0807-090a-0b0c0d0e0f10}"; text != want || !strings.HasPrefix(fields, "arg10=") {
		t.Errorf("the text is %s, the fields are %s", text, fields)
	}
	all, err := ReadTMF(strings.NewReader(shop))
	if d := all[0].Events[2]; err != nil || len(all) != 1 || d.Name != "Till::Shut#12" || d.Level != 0 {
		t.Errorf("%v: the message is %+v", err, d)
	}
}

// TestBad: lines that are no part of a format are counted, and cost nothing but themselves.
func TestBad(t *testing.T) {
	for text, want := range map[string]string{
		"":                           ErrNone.Error(),
		"#typev a 1 \"x\" // \n{\n}": "line 1: " + errOrphan.Error(),
		"what is this\n":             "line 1: " + errLine.Error(),
		strings.Replace(shop, "#typev Till_Main_c12 10", "#typev Till_Main_c12 ten", 1): "line 3: " + errFormat.Error(),
		strings.Replace(shop, "price, ItemLong -- 10", "price", 1):                      "line 5: " + errArgument.Error(),
		strings.Repeat("x", maxLine+2):                                                  "line 1: bufio.Scanner: token too long",
	} {
		all, err := ReadTMF(strings.NewReader(text))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.80q: %v, want %s", text, err, want)
		}
		if strings.Contains(text, "Till_Main_c40") && (len(all) != 1 || len(all[0].Events) == 0) {
			t.Errorf("%.80q: the good messages are lost", text)
		}
	}
}

// annotation makes a record of texts.
func annotation(texts ...string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, symbolAnnotation)
	b = le.AppendUint32(b, 0x10)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, uint16(len(texts)))
	for _, text := range texts {
		b = append(append(b, text...), 0)
	}
	for len(b)%4 != 2 {
		b = append(b, 0)
	}
	return append(le.AppendUint16(nil, uint16(len(b))), b...)
}

// TestPDB reads a PDB whose message does not say its function, which the symbols tell, and
// whose flag is one of the provider that it names.
func TestPDB(t *testing.T) {
	symbols := []byte{4, 0, 0, 0}
	proc := make([]byte, 39)
	copy(proc[37:], "f")
	binary.LittleEndian.PutUint16(proc, symbolGlobalProc)
	copy(proc[37:], "f\x00")
	proc = append(proc, 0, 0, 0)
	symbols = append(symbols, binary.LittleEndian.AppendUint16(nil, uint16(len(proc)))...)
	symbols = append(symbols, proc...)
	inside := annotation("TMF:", "5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=a.c MJ= MN=", `#typev a_c7 10 "%0 %10!u! of`+"\n"+`two lines" //   LEVEL=2 FLAGS=TRACE_CASH`, "{", "n, ItemLong -- 10", "}", "PUBLIC_TMF:")
	end := len(symbols) + len(inside)
	symbols = append(symbols, inside...)
	binary.LittleEndian.PutUint32(symbols[4+4+4:], uint32(end))
	symbols = append(symbols, annotation("TMF:", "5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=a.c MJ= MN=", `#typev a_c9 11 "%0 out" //   LEVEL=LOUD`, "{", "}")...)
	symbols = append(symbols, annotation("TMC:", "81b20fea-73a8-4b62-95bc-354477c97a6f", "ShopGuid", "TRACE_CARD", "TRACE_CASH")...)
	symbols = append(symbols, annotation("other", "x", "y")...)
	file := msftest.File([][]byte{nil, nil, nil, msftest.Debug([]string{"a.obj"}, 4, symbols), symbols})
	all, err := ReadPDB(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(all) != 2 || len(all[1].Events) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if c := all[0]; c.Desc.Name != "ShopGuid" || len(c.Keywords) != 2 || c.Keywords[1] != (etw.KeywordDesc{Name: "TRACE_CASH", Mask: 2}) {
		t.Errorf("the provider is %+v", c)
	}
	in, out := all[1].Events[0], all[1].Events[1]
	if in.TaskName != "f" || in.Level != etw.LevelError || in.Keywords != 2 || in.Name != "a.c:7" || in.Fields[0].Type != etw.InUInt32 || in.Message != "%1!u! of\ntwo lines" {
		t.Errorf("the message is %+v", in)
	}
	if out.TaskName != "" || out.Level != 0 || out.Keywords != 0 {
		t.Errorf("the message outside of functions is %+v", out)
	}
	for n := range len(file) {
		if _, err := ReadPDB(bytes.NewReader(file[:n]), int64(n)); err == nil && n < len(file)-2*512 {
			t.Errorf("%d bytes are taken for a file", n)
		}
	}
	if _, err := ReadPDB(bytes.NewReader(msftest.File([][]byte{nil, nil, nil, msftest.Debug([]string{"a.obj"}, 4, nil)})), 5120); !errors.Is(err, ErrNone) {
		t.Errorf("a file without messages: %v", err)
	}
}

// TestCorpus reads files of real drivers: no line is left out, no type is unknown, and each place
// in a text has its argument.
func TestCorpus(t *testing.T) {
	formats, messages, fields := 0, 0, 0
	for _, path := range corpus.Glob(t, "wpp", "*.tmf") {
		data := testio.Read(t, path)
		all, err := ReadTMF(bytes.NewReader(data))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		formats += bytes.Count(data, []byte("#typev"))
		for _, p := range all {
			for _, d := range p.Events {
				messages++
				fields += len(d.Fields)
				if strings.Contains(d.Message, "%%") || d.Level == 0 || d.TaskName == "" || !strings.Contains(d.Name, ".c:") {
					t.Errorf("%s: %+v", path, d)
				}
				for _, f := range d.Fields {
					if strings.Contains(f.Name, "_Item") {
						t.Errorf("%s: %s has a type that is not known", path, f.Name)
					}
				}
			}
		}
	}
	t.Logf("%d formats, %d messages, %d fields", formats, messages, fields)
	if formats < 2000 || messages < 1500 || fields < 1000 {
		t.Error("that is fewer than the files have")
	}
}

// TestListing holds records of our own against the listing of a PDB by Microsoft's reader: the same
// texts take the bytes that its offsets leave, and are messages that its TMF files have, too.
func TestListing(t *testing.T) {
	data := string(testio.Read(t, corpus.File(t, "wpp", "BthPS3PSM.pdb-cvdump.txt")))
	entry := regexp.MustCompile(`(?m)^\(([0-9A-F]{6})\) +S_ANNOTATION: \[.*\]\n((?: +\d+: ".*"\n)+)\n?\(([0-9A-F]{6})\)`)
	text := regexp.MustCompile(`(?m)^ +\d+: "(.*)"$`)
	symbols, n := []byte{4, 0, 0, 0}, 0
	for rest := strings.ReplaceAll(data, "\r", ""); ; {
		m := entry.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		var texts []string
		for _, line := range text.FindAllStringSubmatch(rest[m[4]:m[5]], -1) {
			texts = append(texts, line[1])
		}
		from, _ := strconv.ParseUint(rest[m[2]:m[3]], 16, 32)
		to, _ := strconv.ParseUint(rest[m[6]:m[7]], 16, 32)
		record := annotation(texts...)
		if uint64(len(record)) != to-from {
			t.Errorf("record at %x has %d bytes, want %d", from, len(record), to-from)
		}
		symbols, n = append(symbols, record...), n+1
		rest = rest[m[5]:]
	}
	file := msftest.File([][]byte{nil, nil, nil, msftest.Debug([]string{"a.obj"}, 4, symbols), symbols})
	all, err := ReadPDB(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	known := etw.NewRegistry(all...)
	tmf, same := 0, 0
	for _, path := range corpus.Glob(t, "wpp", "*.tmf") {
		f := testio.File(t, path)
		providers, _ := ReadTMF(f)
		f.Close()
		for _, p := range providers {
			if known.Name(p.Desc.GUID) == "" {
				continue
			}
			for _, d := range p.Events {
				tmf++
				if got := known.Lookup(d.Key()); got != nil && got.Name == d.Name && len(got.Fields) == len(d.Fields) && got.Level == d.Level {
					same++
				}
			}
		}
	}
	t.Logf("%d annotations, of %d messages of TMF files %d are the same", n, tmf, same)
	if n < 70 || tmf == 0 || same != tmf {
		t.Error("not all are")
	}
}

// FuzzReadTMF: no file makes the reader fail in another way than by an error.
func FuzzReadTMF(f *testing.F) {
	f.Add([]byte(shop), []byte{4, 3, 0, 0, 0, 0xab})
	f.Fuzz(func(t *testing.T, data, payload []byte) {
		all, _ := ReadTMF(bytes.NewReader(data))
		render(t, all, payload)
	})
}

// render decodes a payload by all messages.
func render(t *testing.T, all []*etw.Provider, payload []byte) {
	d := etw.NewDecoder(all...)
	for _, p := range all {
		for _, e := range p.Events {
			v, _ := d.Decode(&etw.Record{Kind: etw.KindMessage, Provider: p.Desc.GUID, ID: e.ID, PointerSize: etw.Ptr32, Payload: payload})
			if v == nil {
				t.Fatalf("%v has no description", e.Key())
			}
			if n := len(AppendMessage(nil, v, etw.Ptr32)); n > maxMessage+len(e.Message)+8*len(payload)+4096 {
				t.Errorf("a text of %d bytes", n)
			}
		}
	}
}

// FuzzReadPDB: no file makes the reader fail in another way than by an error.
func FuzzReadPDB(f *testing.F) {
	symbols := append([]byte{4, 0, 0, 0}, annotation("TMF:", "5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=a.c", `#typev a_c7 10 "%0 %10!u!" // LEVEL=2`, "{", "n, ItemLong -- 10", "}")...)
	f.Add(msftest.File([][]byte{nil, nil, nil, msftest.Debug([]string{"a.obj"}, 4, symbols), symbols}))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _ := ReadPDB(bytes.NewReader(data), int64(len(data)))
		render(t, all, data)
	})
}
