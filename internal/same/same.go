// Package same tells records that are alike from others.
package same

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Sum returns a hash of all that is in a record.
func Sum(seed maphash.Seed, r *etw.Record) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var b [64]byte
	le := binary.LittleEndian
	le.PutUint16(b[0:], r.ID)
	b[2], b[3], b[4], b[5], b[6] = r.Version, r.Channel, byte(r.Level), byte(r.Opcode), byte(r.Kind)
	le.PutUint16(b[8:], r.Task)
	le.PutUint64(b[16:], r.Keywords)
	le.PutUint64(b[24:], uint64(r.ProcessID))
	le.PutUint64(b[32:], uint64(r.ThreadID))
	le.PutUint64(b[40:], uint64(r.Processor))
	le.PutUint64(b[48:], uint64(r.Timestamp))
	h.Write(b[:])
	h.Write(r.Provider[:])
	h.Write(r.ActivityID[:])
	h.Write(r.RelatedActivityID[:])
	h.Write(r.Payload)
	h.Write(r.Stack.Addresses)
	return h.Sum64()
}

// Once finds records that another file of the trace had, too. Of those that are alike in one file each
// counts. Records come in the order of time.
type Once struct {
	seed maphash.Seed
	at   int64
	seen map[uint64][]count // at that time, by what they are
}

// A count is how many there were in a file.
type count struct {
	file  string
	times int
}

// maxSeen bounds those of one time: with most clocks they are some tens, but a recorder may give one
// time to all that it lists.
const maxSeen = 1 << 18

// NewOnce returns one that has seen none, or nil unless it is wanted.
func NewOnce(wanted bool) *Once {
	if !wanted {
		return nil
	}
	return &Once{seed: maphash.MakeSeed(), seen: make(map[uint64][]count)}
}

// Next reads the next record of a source that no other file had.
func (o *Once) Next(s etw.Source, rec *etw.Record) error {
	for {
		if err := s.Next(rec); err != nil || !o.Repeats(rec) {
			return err
		}
	}
}

// Repeats reports whether another file had a record. To a nil Once all are new.
func (o *Once) Repeats(r *etw.Record) bool {
	if o == nil {
		return false
	}
	if r.Timestamp != o.at || len(o.seen) >= maxSeen {
		o.at = r.Timestamp
		clear(o.seen)
	}
	sum, others := Sum(o.seed, r), 0
	list := o.seen[sum]
	own := -1
	for i, s := range list {
		if s.file == r.File {
			own = i
		} else {
			others = max(others, s.times)
		}
	}
	if own < 0 {
		own = len(list)
		list = append(list, count{file: r.File})
		o.seen[sum] = list
	}
	list[own].times++
	return others >= list[own].times
}
