package blocks

import (
	"encoding/binary"
	"io"
)

// A Copier copies blocks of a .nettrace file to another.
type Copier struct {
	Src   io.ReaderAt
	Start int64 // of the first block
	Out   []byte
}

// MaxFill is the most that is before the content of a block.
const MaxFill = 3

// sixBegin is where the first block of a stream of version 6 is.
const sixBegin = 20

// Add copies a block. The content of those of version 3 to 5 begins at a multiple of 4: the
// padding before it depends on where the block comes to lie.
func (w *Copier) Add(b *Block) error {
	at := len(w.Out)
	w.Out = append(w.Out, make([]byte, b.Size)...)
	p := w.Out[at:]
	if err := ReadWhole(w.Src, p, b.Offset); err != nil {
		return err
	}
	if w.Start == sixBegin || b.Kind == "Trace" || b.Kind == "End" {
		return nil
	}
	size := 16 + int(binary.LittleEndian.Uint32(p[11:])) + 4 // behind the number of bytes
	filled := -(int(b.Offset) + size) & 3
	fill := -(at + size) & 3
	if fill == filled {
		return nil
	}
	content := p[size+filled:]
	moved := append(make([]byte, 0, len(content)), content...)
	w.Out = append(append(w.Out[:at+size], make([]byte, fill)...), moved...)
	return nil
}

// Align adds a block without events, so long that the block at an offset of the source lies
// here as it does there.
func (w *Copier) Align(at int64) {
	const name, usual = "EventBlock", 20
	b := append(w.Out, tagPrivate, tagPrivate, tagNull)
	b = binary.LittleEndian.AppendUint32(b, 2)
	b = binary.LittleEndian.AppendUint32(b, 2)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(append(b, name...), tagEnd)
	size := len(b)
	b = append(b, make([]byte, 4+-(size+4)&3)...)
	header := usual + (int(at)-(len(b)+usual+1))&3
	binary.LittleEndian.PutUint32(b[size:], uint32(header))
	b = binary.LittleEndian.AppendUint16(b, uint16(header))
	b = append(b, make([]byte, header-2)...)
	w.Out = append(b, tagEnd)
}

// ReadWhole fills p from an offset on.
func ReadWhole(src io.ReaderAt, p []byte, at int64) error {
	if n, err := src.ReadAt(p, at); n < len(p) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}
