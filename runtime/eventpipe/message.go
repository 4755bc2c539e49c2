package eventpipe

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A message begins with a header:
//
//	magic [14]byte, size of the whole u16, set u8, number u8, reserved u16
//
// The answer has the set 0xff and the number 0 for OK or 0xff for an error, whose
// payload begins with a u32 HRESULT.
const (
	magic      = "DOTNET_IPC_V1\x00"
	headerSize = 20
	answerOK   = 0xff00
	answerFail = 0xffff
)

// A message is a command as it is made.
type message struct {
	cmd command
	buf []byte
}

func newMessage(cmd command) *message {
	m := &message{cmd, make([]byte, headerSize, 256)}
	copy(m.buf, magic)
	m.buf[16], m.buf[17] = byte(cmd>>8), byte(cmd)
	return m
}

func (m *message) u8(n uint8)   { m.buf = append(m.buf, n) }
func (m *message) u32(n uint32) { m.buf = binary.LittleEndian.AppendUint32(m.buf, n) }
func (m *message) u64(n uint64) { m.buf = binary.LittleEndian.AppendUint64(m.buf, n) }

func (m *message) bool(b bool) {
	if b {
		m.u8(1)
	} else {
		m.u8(0)
	}
}

func (m *message) bytes(b []byte) { m.buf = append(m.buf, b...) }

// text appends the number of UTF-16 units with the NUL, and them. An empty text is
// the number 0.
func (m *message) text(s string) {
	if s == "" {
		m.u32(0)
		return
	}
	text := etw.MakeUTF16(s)
	m.u32(uint32(text.Len() + 1))
	m.buf = append(append(m.buf, text...), 0, 0)
}

// seal returns the message with its size. One that is too long cannot be sent.
func (m *message) seal() ([]byte, error) {
	if len(m.buf) > math.MaxUint16 {
		return nil, invalid("%v takes %d bytes, and the protocol has room for %d; ask for less, or in several sessions", m.cmd, len(m.buf), math.MaxUint16)
	}
	binary.LittleEndian.PutUint16(m.buf[14:], uint16(len(m.buf)))
	return m.buf, nil
}

// checkText reports a text that would reach the runtime as another one.
func checkText(what, s string) error {
	switch {
	case strings.ContainsRune(s, 0):
		return invalid("%s has a NUL in it", what)
	case !utf8.ValidString(s):
		return invalid("%s %q is not valid UTF-8", what, s)
	}
	return nil
}

// readAnswer reads the answer to a command. It reads no byte that follows it, which
// belongs to the stream.
func readAnswer(r io.Reader) (kind uint16, payload []byte, err error) {
	var head [headerSize]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			err = ErrNoAnswer
		}
		return 0, nil, err
	}
	size := int(binary.LittleEndian.Uint16(head[14:]))
	if string(head[:14]) != magic || size < headerSize {
		return 0, nil, fmt.Errorf("%w: it begins with %q", ErrProtocol, head[:])
	}
	payload = make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, payload); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	kind = binary.BigEndian.Uint16(head[16:])
	if kind != answerOK && kind != answerFail || kind == answerFail && len(payload) < 4 {
		return 0, nil, fmt.Errorf("%w: set %#x, number %#x, %d bytes", ErrProtocol, head[16], head[17], len(payload))
	}
	return kind, payload, nil
}

// A parser reads the payload of an answer. After a fault it returns zero values, and
// bad is set.
type parser struct {
	b   []byte
	bad bool
}

func (p *parser) take(n int) []byte {
	if p.bad || n < 0 || n > len(p.b) {
		p.bad = true
		return nil
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *parser) u16() uint16 {
	if b := p.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (p *parser) u32() uint32 {
	if b := p.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *parser) u64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (p *parser) guid() (g etw.GUID) {
	copy(g[:], p.take(len(g)))
	return g
}

func (p *parser) text() string {
	n := p.u32()
	if n == 0 || p.bad {
		return ""
	}
	if uint64(n) > uint64(len(p.b))/2 {
		p.bad = true
		return ""
	}
	b := p.take(2 * int(n))
	text, end := b[:len(b)-2], b[len(b)-2:]
	if end[0] != 0 || end[1] != 0 {
		p.bad = true
		return ""
	}
	return etw.UTF16(text).String()
}

// err returns ErrProtocol if something did not fit.
func (p *parser) err(cmd command) error {
	if p.bad {
		return fmt.Errorf("%w: the payload of %v is too short or malformed", ErrProtocol, cmd)
	}
	return nil
}
