package tracefilereceiver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/trace"
)

// A content tells a trace from others that begin like it, as the parts do that are made of
// one trace: its records in the order of the file, or of an .etl, which is merged of those
// of processors, of each of these.
type content struct {
	Parts map[int32]*sums `json:"parts"`
	Whole bool            `json:"whole,omitempty"` // its end is there
}

// A sums is of records in their order.
type sums struct {
	Records int64  `json:"records"` // that were looked at
	Sum     string `json:"sum"`     // of all of them
	Marks   []mark `json:"marks"`   // of fewer of them
}

// A mark is the sum of the first records.
type mark struct {
	At  int64  `json:"at"`
	Sum string `json:"sum"`
}

// maxCompared is how many records are compared.
const maxCompared = 1 << 20

// contentOf looks at the i-th trace of a file. Where those known end there are marks, too.
func contentOf(ctx context.Context, path string, i int, watch *watch, known []*content) (*content, error) {
	files, err := trace.OpenFiles(path, trace.WithFileOrder(), trace.WithoutSchemas(), trace.WithoutAttribution(), trace.WithContext(ctx), trace.WithReaderAt(watch.file))
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if i >= len(files) {
		return nil, errChanged
	}
	head := files[i].Head()
	merged := head.Recorder == trace.Windows
	c := &content{Parts: make(map[int32]*sums), Whole: !merged || head.Stopped}
	running := make(map[int32]hash.Hash)
	var rec etw.Record
	for n := 0; n < maxCompared; n++ {
		err := files[i].Next(&rec)
		if errors.Is(err, etw.ErrIncomplete) {
			c.Whole = false
			continue
		}
		if err == io.EOF {
			c.Whole = c.Whole && fact(files[i], "endedCleanly") != false
			return c.finish(running), nil
		}
		if err != nil {
			return nil, err
		}
		part := int32(0)
		if merged {
			part = rec.Processor
		}
		if running[part] == nil {
			running[part], c.Parts[part] = sha256.New(), new(sums)
		}
		addRecord(running[part], &rec)
		x := c.Parts[part]
		if x.Records++; x.Records&(x.Records-1) == 0 || endsAt(known, part, x.Records) {
			x.Marks = append(x.Marks, mark{x.Records, sumOf(running[part])})
		}
	}
	c.Whole = false
	return c.finish(running), nil
}

// finish sets the sums of all records.
func (c *content) finish(running map[int32]hash.Hash) *content {
	for part, sum := range running {
		c.Parts[part].Sum = sumOf(sum)
	}
	return c
}

// endsAt reports whether one of those known has so many records.
func endsAt(known []*content, part int32, records int64) bool {
	return slices.ContainsFunc(known, func(c *content) bool { return c.Parts[part] != nil && c.Parts[part].Records == records })
}

// addRecord adds the identity of a record to a sum.
func addRecord(sum hash.Hash, rec *etw.Record) {
	var b []byte
	for _, v := range []int64{rec.Timestamp, rec.ProcessID, rec.ThreadID, int64(rec.ID), int64(rec.Version), int64(rec.Opcode), int64(len(rec.Payload))} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	sum.Write(append(b, rec.Provider[:]...))
	sum.Write(rec.Payload)
}

func sumOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)[:8]) }

// isOf reports whether c is of the trace of which a file had known: as much, or more, or a part
// that is cut off. Of whole traces, one with other records or another number of them is another.
func (c *content) isOf(known *content) bool {
	if c.Whole && known.Whole && c.records() != known.records() {
		return false
	}
	for part, x := range known.Parts {
		mine := c.Parts[part]
		if mine == nil {
			mine = new(sums)
		}
		if !mine.agrees(x, c.Whole) {
			return false
		}
	}
	return !known.Whole || c.records() <= known.records()
}

func (c *content) records() (n int64) {
	for _, x := range c.Parts {
		n += x.Records
	}
	return n
}

// agrees reports whether the records can be those that are known, or more, or unless they are
// all the first of them.
func (x *sums) agrees(known *sums, whole bool) bool {
	if x.Records >= known.Records {
		return x.at(known.Records) == known.Sum
	}
	if whole {
		return false
	}
	for i := len(known.Marks) - 1; i >= 0; i-- {
		if m := known.Marks[i]; m.At <= x.Records {
			return x.at(m.At) == m.Sum
		}
	}
	return true
}

// at returns the sum of the first n records, if it is known.
func (x *sums) at(n int64) string {
	if n == x.Records {
		return x.Sum
	}
	for _, m := range x.Marks {
		if m.At == n {
			return m.Sum
		}
	}
	return ""
}

// maxAlike is how many places are looked at for states of traces that begin alike: some may
// have been forgotten before others.
const maxAlike = 64

// identify returns under which identity the i-th trace of a file is known, of those that begin
// like it, or is to be, and its content.
func (w *worker) identify(ctx context.Context, f found, i int, id string, follow bool) (string, *content, error) {
	type place struct {
		id    string
		state state
	}
	var places []place
	var known []*content
	free := ""
	for k, gap := 0, 0; k < maxAlike && gap < 4; k++ {
		alike := id
		if k > 0 {
			alike = fmt.Sprintf("%s.%d", id, k)
		}
		s, err := w.store.get(ctx, alike)
		if err != nil {
			return "", nil, &againError{err}
		}
		if s.Seen.IsZero() && s.Content == nil {
			gap++
			free = cmp.Or(free, alike)
			continue
		}
		if s.Done && slices.Contains(s.Read, f.form()) {
			return alike, s.Content, nil
		}
		places = append(places, place{alike, s})
		if s.Content != nil {
			known = append(known, s.Content)
		}
	}
	watch := w.watch(f)
	c, err := contentOf(ctx, f.path, i, watch, known)
	if failed := watch.err(); failed != nil && !follow {
		err = failed
	}
	if err != nil {
		return "", nil, err
	}
	for _, p := range places {
		if p.state.Content == nil || c.isOf(p.state.Content) {
			return p.id, c, nil
		}
	}
	if free == "" { // nobody makes so many parts of a trace
		return "", nil, fmt.Errorf("more than %d traces begin like it", maxAlike)
	}
	return free, c, nil
}
