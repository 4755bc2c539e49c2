package wevt

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A messageTable has texts by their ids.
type messageTable map[uint32]string

// The parts of a message table, as Windows has them for all programs.
const (
	messageBlock  = 12
	messageHeader = 4
	messageWide   = 1 // the text is UTF-16
)

// lineEnd is the end that the message compiler puts behind every text.
const lineEnd = "\r\n"

// decodeMessages reads a message table. A fault is an *[Error]; the texts before that are
// returned.
func decodeMessages(file string, b []byte) (messageTable, error) {
	table := make(messageTable)
	fail := func(at int, format string, args ...any) (messageTable, error) {
		return table, &Error{file, at, "message table: " + fmt.Sprintf(format, args...)}
	}
	if len(b) < 4 {
		return fail(0, "%d bytes are none", len(b))
	}
	blocks := int(binary.LittleEndian.Uint32(b))
	if blocks > (len(b)-4)/messageBlock {
		return fail(0, "%d blocks do not fit in %d bytes", blocks, len(b))
	}
	left := len(b) // so that blocks that share entries cost no more than others
	for i := range blocks {
		at := 4 + i*messageBlock
		low, high := binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:])
		pos := uint64(binary.LittleEndian.Uint32(b[at+8:]))
		if high < low {
			return fail(at, "messages %#x to %#x are no block", low, high)
		}
		for id := uint64(low); id <= uint64(high); id++ {
			if pos+messageHeader > uint64(len(b)) {
				return fail(at, "message %#x is at %#x, behind the end", id, pos)
			}
			size := int(binary.LittleEndian.Uint16(b[pos:]))
			if size < messageHeader || uint64(size) > uint64(len(b))-pos {
				return fail(int(pos), "message %#x has size %d", id, size)
			}
			if left -= size; left < 0 {
				return fail(at, "blocks have messages in common")
			}
			wide := binary.LittleEndian.Uint16(b[pos+2:])&messageWide != 0
			table[uint32(id)] = messageText(b[pos+messageHeader:pos+uint64(size)], wide)
			pos += uint64(size)
		}
	}
	return table, nil
}

// Texts returns the texts of the message table by their numbers: those in English, or else those
// of the language that has the least number. Of a damaged table they are those before the fault.
func (r Resources) Texts() map[uint32]string {
	language := English
	if r.Messages[language] == nil {
		for _, l := range slices.Sorted(maps.Keys(r.Messages)) {
			language = l
			break
		}
	}
	table, _ := decodeMessages("", r.Messages[language])
	return table
}

// messageText returns the text of a message without the end that the compiler adds.
func messageText(p []byte, wide bool) string {
	text := ""
	if wide {
		text = etw.UTF16(p).String()
	} else {
		runes := make([]rune, len(p))
		for i, c := range p {
			runes[i] = rune(c)
		}
		text = string(runes)
	}
	return strings.TrimSuffix(strings.TrimRight(text, "\x00"), lineEnd)
}

// encode makes a message table: ascending, with numbers that follow each other in
// one block.
func (t messageTable) encode() ([]byte, error) {
	ids := slices.Sorted(maps.Keys(t))
	var blocks [][]uint32
	for i, id := range ids {
		if i == 0 || id != ids[i-1]+1 {
			blocks = append(blocks, nil)
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], id)
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(blocks)))
	at := 4 + messageBlock*len(blocks)
	var entries []byte
	for _, block := range blocks {
		b = binary.LittleEndian.AppendUint32(b, block[0])
		b = binary.LittleEndian.AppendUint32(b, block[len(block)-1])
		b = binary.LittleEndian.AppendUint32(b, uint32(at+len(entries)))
		for _, id := range block {
			text := etw.AppendUTF16(nil, t[id]+lineEnd+"\x00")
			size := align(messageHeader+len(text), 4)
			if size > 0xffff {
				return nil, fmt.Errorf("message %#x has %d characters; a table holds at most %d", id, len(text)/2, (0xffff-messageHeader)/2)
			}
			entries = binary.LittleEndian.AppendUint16(entries, uint16(size))
			entries = binary.LittleEndian.AppendUint16(entries, messageWide)
			entries = append(entries, text...)
			entries = append(entries, make([]byte, size-messageHeader-len(text))...)
		}
	}
	return append(b, entries...), nil
}
