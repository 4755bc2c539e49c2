// Package teller counts facts once that a trace of Windows tells twice. Windows tells of a
// machine by the classic events of the kernel, and by providers with manifests; a trace may
// have both, of the same thing, or each for a part of the time.
package teller

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/runtime/etw"
)

// A Teller is one of the ways.
type Teller uint8

const (
	Classic Teller = iota
	Provided
)

// A Union hears the facts of both tellers, each once. Those of one fact have the same key, and lie
// close together. The zero Union is ready for use.
type Union struct {
	heard  [2]bool
	recent [64]fact // of the first teller, while there is no other
	next   int
	alone  map[uint64][]fact // those of a key that one has told and the other has not, once there are both
}

// A fact is what a teller has told.
type fact struct {
	key   uint64
	at    int64
	clock *etw.Clock
	who   Teller
}

// near is how far the times of a fact may lie apart, in nanoseconds, and nearFiles in files of two
// sessions: those that began at a tick of the system's clock do not agree on when that was.
const (
	near      = 1e6
	nearFiles = 20e6
)

// isNear reports whether another fact came so shortly before that it may be the same.
func (f *fact) isNear(before *fact) bool {
	if f.clock == before.clock {
		return f.at-before.at <= near
	}
	return f.at-before.at <= nearFiles
}

// maxAlone bounds the facts that wait for the other teller: they are of a moment.
const maxAlone = 1 << 16

var seed = maphash.MakeSeed()

// Key is a key that parts of a fact make.
func Key(parts ...uint64) uint64 {
	var b [64]byte
	n := 0
	for _, p := range parts {
		binary.LittleEndian.PutUint64(b[n:], p)
		n += 8
	}
	return maphash.Bytes(seed, b[:n])
}

// Hears reports whether a fact counts: the other teller has not told it.
func (u *Union) Hears(who Teller, r *etw.Record, key uint64) bool {
	f := fact{key, when.Of(r), r.Clock, who}
	u.heard[who] = true
	if !u.heard[1-who] {
		u.recent[u.next%len(u.recent)] = f
		u.next++
		return true
	}
	if u.alone == nil {
		u.alone = make(map[uint64][]fact)
		for i := max(u.next-len(u.recent), 0); i < u.next; i++ {
			u.add(u.recent[i%len(u.recent)])
		}
	}
	return u.add(f)
}

// add adds a fact to those that one has told, unless the other has.
func (u *Union) add(f fact) bool {
	list := u.alone[f.key]
	for len(list) > 0 && !f.isNear(&list[0]) {
		list = list[1:]
	}
	last := len(list) - 1
	isNew := last < 0 || list[last].who == f.who
	if !isNew {
		list = list[:last]
	} else {
		list = append(list, f)
	}
	if len(u.alone) >= maxAlone {
		clear(u.alone)
	}
	u.alone[f.key] = list
	return isNew
}
