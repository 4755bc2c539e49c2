package perfdata

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/internal/perfevent"
)

// A maker makes files as perf writes them.
type maker struct {
	order binary.ByteOrder
}

// sizes of the parts of records.
const testParts = perfevent.PartIdentifier | perfevent.PartIP | perfevent.PartThread | perfevent.PartTime | perfevent.PartProcessor | perfevent.PartPeriod

// put appends numbers, and texts that are padded to 8 bytes.
func (m *maker) put(b *bytes.Buffer, parts ...any) {
	for _, v := range parts {
		switch v := v.(type) {
		case string:
			b.WriteString(v)
			b.Write(make([]byte, 8-len(v)%8)) // a NUL at least
		case []byte:
			b.Write(v)
		default:
			if err := binary.Write(b, m.order, v); err != nil {
				panic(err)
			}
		}
	}
}

// record makes a record.
func (m *maker) record(kind uint32, misc uint16, parts ...any) []byte {
	var body, b bytes.Buffer
	m.put(&body, parts...)
	m.put(&b, kind, misc, uint16(8+body.Len()), body.Bytes())
	return b.Bytes()
}

// side makes a record of the kernel that is no sample, of process 7 and thread 8.
func (m *maker) side(at int64, kind uint32, misc uint16, parts ...any) []byte {
	return m.record(kind, misc, append(parts, uint32(7), uint32(8), at, uint32(1), uint32(0), uint64(testClock))...)
}

// The numbers of the events of test files.
const (
	testClock = 100
	testPoint = 101
	testOther = 102
)

// sample makes a sample of process 7 and thread 8. Those of the tracepoint have raw bytes and
// a stack, the others a stack.
func (m *maker) sample(id uint64, at int64, raw []byte, stack ...uint64) []byte {
	parts := []any{id, uint64(0x401000), uint32(7), uint32(8), at, uint32(1), uint32(0), uint64(250000), uint64(len(stack)), stack}
	if id == testPoint {
		parts = append(parts, uint32(len(raw)), raw)
	}
	return m.record(perfevent.TypeSample, 2, parts...)
}

// attr makes a request of perf.
func (m *maker) attr(kind uint32, config, period, parts, flags uint64) []byte {
	var b bytes.Buffer
	m.put(&b, kind, uint32(128), config, period, parts, uint64(0))
	row := binary.LittleEndian.AppendUint64(nil, flags)
	if m.order == binary.BigEndian {
		for i := range row {
			row[i] = bits.Reverse8(row[i])
		}
	}
	b.Write(row)
	b.Write(make([]byte, 128-b.Len()))
	return b.Bytes()
}

// attrs are those of test files: a clock with 4000 samples a second, a tracepoint, and
// cache misses.
func (m *maker) attrs() [][]byte {
	const frequency, all, switches = 1 << 10, 1 << 18, 1 << 26
	const stack = testParts | perfevent.PartStack
	return [][]byte{
		m.attr(kindSoftware, cpuClock, 4000, stack, frequency|all|switches),
		m.attr(kindTracepoint, 77, 1, stack|perfevent.PartRaw, all),
		m.attr(kindHardware, 3, 1000, stack, all),
	}
}

// format is the kernel's format of the tracepoint.
const format = `name: bread_baked
ID: 77
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:char kind[6];	offset:8;	size:6;	signed:0;
	field:u16 sizes[2];	offset:14;	size:4;	signed:0;
	field:__data_loc char[] label;	offset:20;	size:4;	signed:0;
	field:long warmth;	offset:24;	size:8;	signed:1;

print fmt: "%s", REC->kind
`

// baked makes the bytes of the tracepoint.
func (m *maker) baked() []byte {
	var b bytes.Buffer
	m.put(&b, uint16(77), uint8(1), uint8(0), int32(8), []byte("rye\x00\x00\x00"), uint16(500), uint16(750), []byte{0, 0}, uint32(5<<16|32), int64(-5), []byte("warm\x00\x00\x00\x00"))
	return b.Bytes()
}

func (m *maker) tracing() []byte {
	var b bytes.Buffer
	line := func(s string) { b.WriteString(s); b.WriteByte(0) }
	b.WriteString("\x17\x08\x44tracing")
	line("0.6")
	m.put(&b, boolByte(m.order == binary.BigEndian), uint8(8), uint32(4096))
	line("header_page")
	m.put(&b, uint64(2), []byte("ab"))
	line("header_event")
	m.put(&b, uint64(0), uint32(0), uint32(1))
	line("bakery")
	list := "ffffffff81000000 T do_work\nffffffff81000100 T do_rest\nffffffff81000200 T do_end\n"
	m.put(&b, uint32(1), uint64(len(format)), []byte(format), uint32(len(list)), []byte(list), uint32(0), uint64(0))
	return b.Bytes()
}

func boolByte(b bool) (n uint8) {
	if b {
		n = 1
	}
	return n
}

func (m *maker) text(s string) []byte {
	var b, padded bytes.Buffer
	m.put(&padded, s)
	m.put(&b, uint32(padded.Len()), padded.Bytes())
	return b.Bytes()
}

// features are those of test files, by their numbers.
func (m *maker) features() (list []struct {
	n int
	b []byte
}) {
	add := func(n int, b []byte) {
		list = append(list, struct {
			n int
			b []byte
		}{n, b})
	}
	join := func(parts ...any) []byte {
		var b bytes.Buffer
		m.put(&b, parts...)
		return b.Bytes()
	}
	add(featureTracing, m.tracing())
	id := bytes.Repeat([]byte{0xab}, 20)
	add(featureBuildIDs, m.record(typeBuildID, 1<<15, int32(-1), id, uint8(20), []byte{0, 0, 0}, "/lib/a.so"))
	add(featureHost, m.text("bakery"))
	add(featureRelease, m.text("6.1"))
	add(featurePerf, m.text("6.1.99"))
	add(featureArch, m.text("x86_64"))
	add(featureProcessors, join(uint32(8), uint32(4)))
	add(featureCommand, join(uint32(2), m.text("perf"), m.text("record")))
	names := join(uint32(3), uint32(128))
	for i, name := range []string{"cpu-clock", "bakery:bread_baked", "cache-misses"} {
		names = append(names, join(m.attrs()[i], uint32(1), m.text(name), uint64(testClock+i))...)
	}
	add(featureEvents, names)
	add(featureClock, join(uint32(1), uint32(1), uint64(1_700_000_000_000_000_000), uint64(1_000_000_000)))
	return list
}

// records are those of test files. They are two rounds of two processors.
func (m *maker) records() (list [][]byte) {
	add := func(b []byte) { list = append(list, b) }
	var id [20]byte
	copy(id[:], "build")
	add(m.side(0, perfevent.TypeComm, 0, uint32(7), uint32(7), "baker"))
	add(m.side(0, perfevent.TypeMmap2, perfevent.MiscBuildID, uint32(7), uint32(7), uint64(0x400000), uint64(0x10000), uint64(0), uint8(5), uint8(0), uint16(0), id, uint32(5), uint32(2), "/bin/baker"))
	add(m.sample(testClock, 1_000_000_300, nil, ^uint64(127), 0xffffffff81000010, ^uint64(511), 0x401000, 0x402000))
	add(m.sample(testClock, 1_000_000_500, nil))
	add(m.sample(testClock, 1_000_000_400, nil, 0x401000))
	add(m.record(typeRound, 0))
	add(m.sample(testPoint, 1_000_000_700, m.baked(), 0x401000))
	add(m.side(1_000_000_600, perfevent.TypeSwitch, perfevent.MiscOut))
	add(m.side(1_000_000_690, perfevent.TypeSwitch, 0))
	add(m.record(typeRound, 0))
	add(m.sample(testOther, 1_000_000_900, nil, 0x401000))
	add(m.side(1_000_000_800, perfevent.TypeLost, 0, uint64(testClock), uint64(12)))
	add(m.side(1_000_000_950, perfevent.TypeMmap, 0, uint32(7), uint32(7), uint64(0x500000), uint64(0x1000), uint64(0), "/lib/a.so"))
	add(m.side(1_000_001_000, perfevent.TypeExit, 0, uint32(7), uint32(1), uint32(7), uint32(1), uint64(1_000_001_000)))
	return list
}

// file makes a file of records.
func (m *maker) file(records ...[]byte) []byte {
	var attrs, ids, data, b bytes.Buffer
	list := m.attrs()
	const each = 128 + 16
	for i, a := range list {
		m.put(&attrs, a, uint64(headerSize+each*len(list)+8*i), uint64(8))
		m.put(&ids, uint64(testClock+i))
	}
	for _, r := range records {
		data.Write(r)
	}
	at := headerSize + attrs.Len() + ids.Len()
	var bitmap [4]uint64
	for _, f := range m.features() {
		bitmap[f.n/64] |= 1 << (f.n % 64)
	}
	magic := uint64(0x32454c4946524550)
	m.put(&b, magic, uint64(headerSize), uint64(each), uint64(headerSize), uint64(attrs.Len()), uint64(at), uint64(data.Len()), uint64(0), uint64(0), bitmap, attrs.Bytes(), ids.Bytes(), data.Bytes())
	var bodies bytes.Buffer
	from := b.Len() + 16*len(m.features())
	for _, f := range m.features() {
		m.put(&b, uint64(from+bodies.Len()), uint64(len(f.b)))
		bodies.Write(f.b)
	}
	b.Write(bodies.Bytes())
	return b.Bytes()
}

// pipe makes the output of perf into a pipe.
func (m *maker) pipe(records ...[]byte) []byte {
	var b bytes.Buffer
	m.put(&b, uint64(0x32454c4946524550), uint64(pipeSize))
	for i, a := range m.attrs() {
		m.put(&b, m.record(typeAttr, 0, a, uint64(testClock+i)))
	}
	for _, f := range m.features() {
		switch f.n {
		case featureTracing:
			m.put(&b, m.record(typeTracing, 0, uint32(len(f.b)), uint32(0))[:16], f.b, make([]byte, (8-len(f.b)%8)%8))
		case featureBuildIDs:
			m.put(&b, f.b)
		default:
			m.put(&b, m.record(typeFeature, 0, uint64(f.n), f.b))
		}
	}
	m.put(&b, m.record(typeAux, 0, uint64(24), make([]byte, 32)), make([]byte, 24)) // with bytes behind it
	for _, r := range records {
		b.Write(r)
	}
	return b.Bytes()
}

// pack packs records, which go on from one part to the next.
func (m *maker) pack(t testing.TB, records ...[]byte) (list [][]byte) {
	all := bytes.Join(records, nil)
	var stream bytes.Buffer
	w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]byte{all[:len(all)/3], all[len(all)/3:]} {
		if _, err := w.Write(part); err != nil || w.Flush() != nil {
			t.Fatal("a record is not packed: ", err)
		}
	}
	testio.Close(t, w)
	packed := stream.Bytes()
	for len(packed) > 0 {
		n := min(len(packed), 100)
		list = append(list, m.record(typePacked, 0, packed[:n]))
		packed = packed[n:]
	}
	return list
}
