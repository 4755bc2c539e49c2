package evtx

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A logWriter writes the chunk of a log, by the layout and with no code of the Reader but hash.
type logWriter struct {
	b       []byte
	names   map[string]int
	records int
}

func newLog() *logWriter { return &logWriter{b: make([]byte, chunkHead), names: map[string]int{}} }

func (w *logWriter) bytes(b ...byte)  { w.b = append(w.b, b...) }
func (w *logWriter) uint16(n int)     { w.b = binary.LittleEndian.AppendUint16(w.b, uint16(n)) }
func (w *logWriter) uint32(n int)     { w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n)) }
func (w *logWriter) uint64(n uint64)  { w.b = binary.LittleEndian.AppendUint64(w.b, n) }
func (w *logWriter) text(text string) { w.b = append(w.b, etw.MakeUTF16(text)...) }

func (w *logWriter) name(text string) {
	if at, ok := w.names[text]; ok {
		w.uint32(at)
		return
	}
	w.names[text] = len(w.b) + 4
	w.uint32(len(w.b) + 4)
	w.uint32(0)
	units := etw.MakeUTF16(text)
	w.uint16(int(hash(units)))
	w.uint16(len(units) / 2)
	w.b = append(append(w.b, units...), 0, 0)
}

// An attr is an attribute: text, or where the text is empty a place for a value.
type attr struct {
	name, text string
	index      int
	typ        etw.InType
}

// open begins an element in a template; its content or close follows.
func (w *logWriter) open(name string, attrs ...attr) {
	token := byte(tokenElement)
	if len(attrs) > 0 {
		token |= tokenMore
	}
	w.bytes(token, 0xff, 0xff, 0, 0, 0, 0)
	w.name(name)
	if len(attrs) > 0 {
		w.uint32(0)
	}
	for _, a := range attrs {
		w.bytes(tokenAttribute)
		w.name(a.name)
		if a.text != "" {
			w.literal(a.text)
		} else {
			w.place(a.index, a.typ)
		}
	}
	w.bytes(tokenCloseStart)
}

func (w *logWriter) literal(text string) {
	w.bytes(tokenText, typeText)
	w.uint16(len([]rune(text)))
	w.text(text)
}

func (w *logWriter) place(index int, typ etw.InType) {
	w.bytes(tokenSubstitution)
	w.uint16(index)
	w.bytes(byte(typ))
}

func (w *logWriter) close() { w.bytes(tokenEndTag) }

// template writes an instance whose definition is the output of body, and its values.
func (w *logWriter) template(id int, body func(), values ...value) {
	w.bytes(tokenFragment, 1, 1, 0, tokenInstance, 1)
	w.uint32(id)
	w.uint32(len(w.b) + 4)
	w.uint32(0)
	w.uint32(id)
	w.b = append(w.b, make([]byte, 12)...)
	size := len(w.b)
	w.uint32(0)
	w.bytes(tokenFragment, 1, 1, 0)
	body()
	w.bytes(tokenEnd)
	binary.LittleEndian.PutUint32(w.b[size:], uint32(len(w.b)-size-4))
	w.uint32(len(values))
	for _, v := range values {
		w.uint16(len(v.data))
		w.bytes(v.typ, 0)
	}
	for _, v := range values {
		w.b = append(w.b, v.data...)
	}
}

// record writes a record with the output of body.
func (w *logWriter) record(body func()) {
	w.records++
	begin := len(w.b)
	w.b = append(w.b, recordMagic...)
	w.uint32(0)
	w.uint64(uint64(w.records))
	w.uint64(loggedAt)
	body()
	w.bytes(tokenEnd)
	for (len(w.b)-begin+4)%8 != 0 {
		w.bytes(0)
	}
	size := len(w.b) - begin + 4
	w.uint32(size)
	binary.LittleEndian.PutUint32(w.b[begin+4:], uint32(size))
}

// loggedAt is when records were written: 2020-01-01.
const loggedAt = 132223104000000000

// chunk returns the chunk, whose records begin at the number first.
func (w *logWriter) chunk(first int) []byte {
	b := append(w.b, make([]byte, chunkSize-len(w.b))...)
	copy(b, chunkMagic)
	le := binary.LittleEndian
	for _, at := range []int{8, 24} {
		le.PutUint64(b[at:], uint64(first))
		le.PutUint64(b[at+8:], uint64(first+w.records-1))
	}
	le.PutUint32(b[40:], 128)
	le.PutUint32(b[48:], uint32(len(w.b)))
	le.PutUint32(b[52:], crc32.ChecksumIEEE(b[chunkHead:len(w.b)]))
	le.PutUint32(b[124:], crc32.Update(crc32.ChecksumIEEE(b[:120]), crc32.IEEETable, b[128:chunkHead]))
	return b
}

// log returns a file of chunks.
func log(chunks ...[]byte) []byte {
	b := make([]byte, headerBlock)
	copy(b, fileMagic)
	le := binary.LittleEndian
	le.PutUint32(b[32:], headerSize)
	le.PutUint16(b[36:], 1)
	le.PutUint16(b[38:], 3)
	le.PutUint16(b[40:], headerBlock)
	le.PutUint16(b[42:], uint16(len(chunks)))
	le.PutUint32(b[124:], crc32.ChecksumIEEE(b[:120]))
	for _, c := range chunks {
		b = append(b, c...)
	}
	return b
}

// event writes an event with the data that body writes, as a provider of a manifest logs it.
func (w *logWriter) event(id uint16, body func(), values ...value) {
	inner := &logWriter{names: map[string]int{}}
	w.record(func() {
		// The inner one is the last value of the outer one, and its offsets are those of the
		// chunk: so it is written where it stands, and its size filled in.
		w.template(1, w.system, value{uint8(etw.InUInt16), binary.LittleEndian.AppendUint16(nil, id)},
			value{uint8(etw.InFileTime), binary.LittleEndian.AppendUint64(nil, loggedAt)}, value{typeXML, inner.b})
		begin := len(w.b)
		w.template(2, body, values...)
		w.bytes(tokenEnd)
		binary.LittleEndian.PutUint16(w.b[begin-10-4:], uint16(len(w.b)-begin))
	})
}

// system writes the template of an event.
func (w *logWriter) system() {
	w.open("Event")
	w.open("System")
	w.open("Provider", attr{name: "Name", text: "Shop"}, attr{name: "Guid", text: "{11111111-2222-3333-4444-555555555555}"})
	w.close()
	w.open("EventID")
	w.place(0, etw.InUInt16)
	w.close()
	w.open("TimeCreated", attr{name: "SystemTime", index: 1, typ: etw.InFileTime})
	w.close()
	w.open("Channel")
	w.literal("Shop/Admin")
	w.close()
	w.open("Computer")
	w.literal("till")
	w.close()
	w.close()
	w.place(2, typeXML)
	w.close()
}

// order writes the template of an event with two fields.
func (w *logWriter) order() {
	w.open("EventData")
	w.open("Data", attr{name: "Name", text: "Item"})
	w.place(0, etw.InUnicodeString)
	w.close()
	w.open("Data", attr{name: "Name", text: "Count"})
	w.place(1, etw.InUInt32)
	w.close()
	w.close()
}
