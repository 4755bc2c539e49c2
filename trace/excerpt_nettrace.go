package trace

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/etwgen/etwgen/internal/blocks"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// excerpt opens a stream that is made of some blocks of a file. Blocks say how long
// they are, so that the others need not be read. It returns nil if blocks do not lead to
// the end of the file, if they are too many or too large, or if one of those that are
// read is damaged.
func (nettraceFormat) excerpt(o *opening, src io.ReaderAt, size int64) (reader, int64, error) {
	all := o.listBlocks(src, size)
	if err := o.ctx.Err(); err != nil || len(all) < 2 {
		return nil, 0, err
	}
	part := o.excerptOver / excerptParts
	chosen := chooseBlocks(all, part)
	room := all[0].Offset
	for i := range all {
		if chosen[i] {
			room += cost(&all[i])
		}
	}
	if room > mostParts*part {
		return nil, 0, nil
	}
	w := &blocks.Copier{Src: src, Start: all[0].Offset, Out: make([]byte, all[0].Offset, room)}
	if err := blocks.ReadWhole(src, w.Out, 0); err != nil {
		return nil, 0, err
	}
	for i := range all {
		if !chosen[i] {
			continue
		}
		if err := w.Add(&all[i]); err != nil {
			return nil, 0, err
		}
	}
	if !o.sound(w.Out) {
		return nil, 0, o.ctx.Err()
	}
	r, err := o.netReader(bytes.NewReader(w.Out))
	if err != nil {
		return nil, 0, err
	}
	return &netExcerptReader{r}, int64(len(w.Out)), nil
}

// maxBlocks is how many blocks a file may have of which only some are read. Usual ones
// are of 100 KB.
const maxBlocks = 1 << 17

// listBlocks returns the blocks of a file, or nil if they are too many or do not lead to
// its end.
func (o *opening) listBlocks(src io.ReaderAt, size int64) []blocks.Block {
	most := cmp.Or(o.excerptBlocks, maxBlocks)
	var all []blocks.Block
	err := blocks.List(src, size, func(b blocks.Block) error {
		if len(all) == most {
			return errTooMany
		}
		b.Detail = ""
		all = append(all, b)
		return o.ctx.Err()
	})
	if err != nil {
		return nil
	}
	return all
}

var errTooMany = errors.New("too many blocks")

// sound reports whether a stream can be read to its end and has the tables that its events refer
// to.
func (o *opening) sound(stream []byte) bool {
	r, err := o.netReader(bytes.NewReader(stream))
	if err != nil {
		return false
	}
	defer r.Close()
	var rec etw.Record
	for err == nil && o.ctx.Err() == nil {
		err = r.Next(&rec)
	}
	n := r.Stats()
	return err == io.EOF && n.Undecodable == 0 && n.UnknownMetadata == 0 && n.UnknownThreads == 0
}

// chooseBlocks chooses the blocks at the begin and at the end, the one with the last event,
// all that introduce kinds of events or threads, and behind each of them the first block of
// events, which has an event of the new kind. For the begin, the end and the middle there
// are part bytes each, which required blocks can exceed.
func chooseBlocks(all []blocks.Block, part int64) []bool {
	chosen := make([]bool, len(all))
	begin, last := 0, len(all)-1
	for left := part; begin < len(all) && (left >= cost(&all[begin]) || begin < 2); begin++ {
		chosen[begin] = true
		left -= cost(&all[begin])
	}
	end := len(all)
	for left := part; end > begin && left >= cost(&all[end-1]); end-- {
		chosen[end-1] = true
		left -= cost(&all[end-1])
	}
	left, introduced := part, false
	for i := begin; i < len(all); i++ {
		b := &all[i]
		if b.Times && b.Last > all[last].Last {
			last = i
		}
		metadata := strings.HasPrefix(b.Kind, "Metadata")
		introduced = introduced || metadata
		if i >= end {
			continue
		}
		if metadata || strings.HasSuffix(b.Kind, "Thread") || introduced && left >= cost(b) {
			chosen[i] = true
			left -= cost(b)
			introduced = introduced && !strings.HasPrefix(b.Kind, "Event")
		}
	}
	chosen[last] = true
	return chosen
}

// cost is how many bytes a block takes at most in another stream.
func cost(b *blocks.Block) int64 { return b.Size + blocks.MaxFill }

// A netExcerptReader reads an excerpt of a stream.
type netExcerptReader struct{ *netReader }

// stats has no losses, which are known only to who has seen all events.
func (r *netExcerptReader) stats() Stats { return Stats{Records: r.netReader.stats().Records} }

// facts has nothing of the end: blocks that were not read can be damaged.
func (r *netExcerptReader) facts(of *File) facts {
	f := r.headerFacts(of)
	if r.Header().Version == 3 { // blocks do not say when their events are
		f = order.Delete(f, func(f Fact) bool { return f.Key == "end" || f.Key == "durationMs" })
	}
	f.number("bytes", of.size, "")
	return f
}
