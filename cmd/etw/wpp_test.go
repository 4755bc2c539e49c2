package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/msf/msftest"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etl/etltest"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestTraceMessages: messages are bytes without their formats, and with them have texts, fields,
// levels and names that filters know.
func TestTraceMessages(t *testing.T) {
	const tmf = `5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Till.c MJ= MN=
#typev Till_c12 10 "%0 [%!FUNC!] failed at %10!p! with %11!s!" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=SALES FUNC=Sell
{
Till->Next, ItemPtr -- 10
status, ItemNTSTATUS -- 11
}
#typev Till_c40 11 "%0 sold %10!d!" //   LEVEL=TRACE_LEVEL_VERBOSE FLAGS=SALES FUNC=Sell
{
count, ItemLong -- 10
}
`
	h := etltest.DefaultHeader()
	message := func(at int64, id uint16, payload []byte) *etw.Record {
		return &etw.Record{
			Kind: etw.KindMessage, Provider: etw.MustParseGUID("5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c"), ID: id, PointerSize: etw.Ptr64,
			ProcessID: 4, ThreadID: 8, Timestamp: h.Clock.Origin + at, Clock: &h.Clock, Payload: payload,
		}
	}
	failed := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, 0xffffd78581762e20), 0xc0000022)
	file := testio.Encoded(t, etltest.File, h, message(1, 10, failed), message(2, 11, []byte{7, 0, 0, 0}), message(3, 12, []byte{1, 2}))
	dir := t.TempDir()
	trace, formats, chosen := filepath.Join(dir, "till.etl"), filepath.Join(dir, "formats", "till.tmf"), filepath.Join(dir, "chosen.etl")
	testio.Write(t, trace, string(file))
	mkdir(t, filepath.Dir(formats))
	testio.Write(t, formats, tmf)
	folder := filepath.Dir(formats)
	for _, c := range []struct {
		args     string
		want, no string
	}{
		{"dump " + trace, "payload=202e768185d7ffff220000c0", "Shop"},
		{"dump --manifest " + folder + " " + trace, "Shop/Till.c:12  [Sell] failed at FFFFD78581762E20 with 0xc0000022(STATUS_ACCESS_DENIED)", "Next="},
		{"dump --manifest " + folder + " " + trace, "payload=0102", "rest"}, // of a message that the file has not
		{"dump --level error --manifest " + formats + " " + trace, "[Sell] failed", "sold"},
		{"dump --where count>6 --manifest " + formats + " " + trace, "sold 7", "failed"},
		{"dump --fields count --manifest " + formats + " " + trace, "count=7", "sold"},
		{"dump --format json -e Till.c:40 --manifest " + formats + " " + trace, `"fields":{"count":7},"message":"sold 7"`, "failed"},
		{"stat --manifest " + formats + " " + trace, "Till.c:40", "Message11"},
		{"filter --manifest " + formats + " --where count=7 -o " + chosen + " " + trace, "", "error"},
		{"dump --manifest " + formats + " " + chosen, "sold 7", "failed"},
		{"events " + formats, "Till.c:12  error", "Message10"},
	} {
		code, stdout, stderr := runTool(strings.Fields(c.args)...)
		if code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), strings.Join(strings.Fields(c.want), " ")) || strings.Contains(stdout+stderr, c.no) {
			t.Errorf("etw %s: code %d, want %q and not %q in\n%s%s", c.args, code, c.want, c.no, stdout, stderr)
		}
	}
}

// TestMessagesOfNamedPDB: the PDB that a trace with messages names is found in a store, by its
// identity.
func TestMessagesOfNamedPDB(t *testing.T) {
	guid := etw.MustParseGUID("00112233-4455-6677-8899-aabbccddeeff")
	var symbols []byte
	texts := []string{"TMF:", "5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Till.c", `#typev Till_c12 10 "%0 sold %10!d!" // LEVEL=2`, "{", "n, ItemLong -- 10", "}"}
	record := append(make([]byte, 10), byte(len(texts)), 0)
	binary.LittleEndian.PutUint16(record[2:], 0x1019)
	record = append(record, strings.Join(texts, "\x00")+"\x00"...)
	for len(record)%4 != 0 {
		record = append(record, 0)
	}
	binary.LittleEndian.PutUint16(record, uint16(len(record)-2))
	symbols = append([]byte{4, 0, 0, 0}, record...)
	info := append([]byte{0x94, 0x2e, 0x31, 1, 0, 0, 0, 0, 1, 0, 0, 0}, guid[:]...)
	pdb := msftest.File([][]byte{nil, info, nil, msftest.Debug([]string{"a.obj"}, 4, symbols), symbols})

	h := etltest.DefaultHeader()
	at := func(ticks int64, r *etw.Record) *etw.Record {
		r.PointerSize, r.Timestamp, r.Clock = etw.Ptr64, h.Clock.Origin+ticks, &h.Clock
		return r
	}
	named := append(append(append([]byte(nil), guid[:]...), 1, 0, 0, 0), "shop.pdb\x00"...)
	file, err := etltest.File(h,
		at(1, &etw.Record{Kind: etw.KindClassic, Provider: etw.MustParseGUID("68fdd900-4a3e-11d1-84f4-0000f80464e3"), Opcode: 64, Version: 2, Payload: named}),
		at(2, &etw.Record{Kind: etw.KindMessage, Provider: etw.MustParseGUID("5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c"), ID: 10, Payload: []byte{7, 0, 0, 0}}))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trace, store := filepath.Join(dir, "shop.etl"), filepath.Join(dir, "store")
	testio.Write(t, trace, string(file))
	of := filepath.Join(store, "shop.pdb", "00112233445566778899AABBCCDDEEFF1")
	mkdir(t, of)
	testio.Write(t, filepath.Join(of, "shop.pdb"), string(pdb))
	if code, stdout, stderr := runTool("dump", "--symbol-path", store, trace); code != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "Shop/Till.c:12 sold 7") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestInterrupts shows the drivers of a made trace whose routines kept processors from threads.
func TestInterrupts(t *testing.T) {
	h := etltest.DefaultHeader()
	over := func(opcode etw.Opcode, fromUS, tillUS int64) *etw.Record {
		at := func(us int64) int64 { return h.Clock.Origin + us*h.Clock.Frequency/1e6 }
		payload := binary.LittleEndian.AppendUint64(nil, uint64(at(fromUS)))
		payload = binary.LittleEndian.AppendUint64(payload, 0xfffff80000001200)
		return &etw.Record{Kind: etw.KindClassic, Provider: etw.MustParseGUID("ce1dbfb4-137e-4da6-87b0-3f59aa102cbc"), Opcode: opcode, Version: 2,
			PointerSize: etw.Ptr64, ProcessID: -1, ThreadID: -1, Timestamp: at(tillUS), Clock: &h.Clock, Payload: payload}
	}
	file := testio.Encoded(t, etltest.File, h, over(68, 100, 800), over(68, 1000, 1010), over(69, 2000, 2001))
	trace := filepath.Join(t.TempDir(), "dpc.etl")
	testio.Write(t, trace, string(file))
	code, stdout, stderr := runTool("threads", "--by", "interrupt", "--format", "csv", trace)
	if want := "DPC,,2,0.71,0.71,700,1,1"; code != 0 || !strings.Contains(stdout, want) {
		t.Errorf("code %d, want %s in\n%s%s", code, want, stdout, stderr)
	}
	if code, stdout, stderr := runTool("threads", "--by", "routine", trace); code != 0 || !strings.Contains(stdout, "3 interrupt routines and DPCs") || !strings.Contains(stdout, "0xfffff80000001200") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}
