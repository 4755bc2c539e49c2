package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/nettrace"
)

// netExcerpt opens a stream that is made of some blocks of a file. Blocks say how long
// they are, so that the others need not be read. It returns nil if the file does not even
// begin as it should.
func (o *opening) netExcerpt(src io.ReaderAt, size int64) (reader, int64, error) {
	var all []blocks.Block
	fault := blocks.List(src, size, func(b blocks.Block) error {
		if b.Offset+b.Size <= size { // else it is what the fault is about
			all = append(all, b)
		}
		return o.ctx.Err()
	})
	switch {
	case o.ctx.Err() != nil:
		return nil, 0, o.ctx.Err()
	case len(all) < 2:
		return nil, 0, nil
	}
	chosen := chooseBlocks(all, o.excerptOver/excerptParts)
	room := all[0].Offset
	for i := range all {
		if chosen[i] {
			room += all[i].Size + maxFill
		}
	}
	w := &excerptWriter{src: src, start: all[0].Offset, out: make([]byte, all[0].Offset, room)}
	if err := readWhole(src, w.out, 0); err != nil {
		return nil, 0, err
	}
	for i := range all {
		if !chosen[i] {
			continue
		}
		if err := w.add(&all[i]); err != nil {
			return nil, 0, err
		}
	}
	r, err := o.netReader(bytes.NewReader(w.out))
	if err != nil {
		return nil, 0, err
	}
	return &netExcerptReader{r, fault}, int64(len(w.out)), nil
}

// chooseBlocks chooses about three times part bytes: those at the begin, those at the
// end, the block with the last event, and those that come with new metadata up to the
// first block of events, which has an event of the new kind.
func chooseBlocks(all []blocks.Block, part int64) []bool {
	chosen := make([]bool, len(all))
	begin, last := 0, len(all)-1
	for left := part; begin < len(all) && (left > 0 || begin < 2); begin++ {
		chosen[begin] = true
		left -= all[begin].Size
	}
	end := len(all)
	for left := part; end > begin && left > 0; end-- {
		chosen[end-1] = true
		left -= all[end-1].Size
	}
	left, introduced := part, false
	for i := begin; i < end; i++ {
		b := &all[i]
		if b.Times && b.Last > all[last].Last {
			last = i
		}
		introduced = introduced || strings.HasPrefix(b.Kind, "Metadata")
		if introduced && left > 0 {
			chosen[i] = true
			left -= b.Size
			introduced = !strings.HasPrefix(b.Kind, "Event")
		}
	}
	chosen[last] = true
	return chosen
}

// An excerptWriter copies blocks of a stream to another.
type excerptWriter struct {
	src   io.ReaderAt
	start int64 // of the first block
	out   []byte
}

// add copies a block. The content of those of version 3 to 5 begins at a multiple of 4:
// what fills the place before it depends on where the block comes to lie.
func (w *excerptWriter) add(b *blocks.Block) error {
	at := len(w.out)
	w.out = w.out[:at+int(b.Size)]
	p := w.out[at:]
	if err := readWhole(w.src, p, b.Offset); err != nil {
		return err
	}
	if w.start == sixBegin || b.Kind == "Trace" || b.Kind == "End" {
		return nil
	}
	size := 16 + int(binary.LittleEndian.Uint32(p[11:])) + 4 // behind the number of bytes
	filled := -(int(b.Offset) + size) & 3
	fill := -(at + size) & 3
	if fill != filled {
		w.out = w.out[:len(w.out)+fill-filled]
		copy(w.out[at+size+fill:], p[size+filled:])
		clear(w.out[at+size : at+size+fill])
	}
	return nil
}

// maxFill is the most that is before the content of a block.
const maxFill = 3

// sixBegin is where the first block of a stream of version 6 is.
const sixBegin = 20

func readWhole(src io.ReaderAt, p []byte, at int64) error {
	if n, err := src.ReadAt(p, at); n < len(p) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}

// A netExcerptReader reads an excerpt of a stream.
type netExcerptReader struct {
	*netReader
	fault error // of the frames of the blocks of the whole file
}

// Next leaves out the end of the file, if that is missing, since a fault says it better.
func (r *netExcerptReader) Next(rec *etw.Record) error {
	err := r.netReader.Next(rec)
	if errors.Is(err, etw.ErrIncomplete) || errors.Is(err, nettrace.ErrSortLimit) {
		return io.EOF
	}
	return err
}

// stats has no losses, which are known only to who has seen all events.
func (r *netExcerptReader) stats() Stats { return Stats{Records: r.netReader.stats().Records} }

func (r *netExcerptReader) facts(of *File) facts {
	f := r.headerFacts(of)
	if r.Header().Version == 3 { // blocks do not say when their events are
		f = slices.DeleteFunc(f, func(f Fact) bool { return f.Key == "end" || f.Key == "duration_ms" })
	}
	f.number("bytes", of.size, "")
	if r.fault != nil {
		f.ended(false, "no: "+describe(r.fault))
	} else {
		f.ended(true, "yes")
	}
	return f
}
