package etw

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// A table finds the entry of a [Key] in a few nanoseconds: the id by its hash, the version
// in a list that has one or two entries.
type table[T any] struct {
	// slots holds the ids in open addressing. Their number is a power of 2, and at
	// most half are taken, so that a search which finds nothing ends soon.
	slots []*idEntry[T]
	count int
	shift uint // of a hash, to the number of a slot
	// seed is random: traces and manifests of other people cannot know which GUIDs
	// have the same hash.
	seed [3]uint64
}

// An idEntry is the entries of an id: by version, and to all versions.
type idEntry[T any] struct {
	provider GUID
	number   uint32 // id and kind
	versions []versionEntry[T]
	any      T
}

type versionEntry[T any] struct {
	version uint8
	value   T
}

// number packs the kind and the id of an event.
func number(kind Kind, id uint16) uint32 { return uint32(kind)<<16 | uint32(id) }

// slot returns where the search for an id starts: a multiplication by a secret, all bits of
// which depend on those of the id, and a second one, because the products of GUIDs that
// count up lie in a row.
func (t *table[T]) slot(provider *GUID, number uint32) uint {
	a := binary.LittleEndian.Uint64(provider[:]) + t.seed[0]
	b := binary.LittleEndian.Uint64(provider[8:]) + t.seed[1] + uint64(number)*t.seed[2]
	hi, lo := bits.Mul64(a, b)
	hi, lo = bits.Mul64(hi^lo, t.seed[2])
	return uint((hi ^ lo) >> (t.shift & 63))
}

// id returns the entry of an id, or nil.
func (t *table[T]) id(kind Kind, provider *GUID, id uint16) *idEntry[T] {
	if len(t.slots) == 0 {
		return nil
	}
	n := number(kind, id)
	mask := uint(len(t.slots) - 1)
	for i := t.slot(provider, n); ; i++ {
		e := t.slots[i&mask]
		if e == nil || e.number == n && e.provider == *provider {
			return e
		}
	}
}

// at returns the entry of an id, and makes room for it.
func (t *table[T]) at(k Key) *idEntry[T] {
	if e := t.id(k.Kind, &k.Provider, k.ID); e != nil {
		return e
	}
	if t.count++; 2*t.count > len(t.slots) {
		t.rehash(max(8, 2*len(t.slots)))
	}
	e := &idEntry[T]{provider: k.Provider, number: number(k.Kind, k.ID)}
	if t.put(e) > longSearch {
		t.rehash(len(t.slots))
	}
	return e
}

const (
	// longSearch is how many slots a search may take. It is twice the search of the worst of
	// thousands of ids with nearly all seeds.
	longSearch = 48
	// maxSeeds is how many seeds are tried.
	maxSeeds = 16
)

// rehash makes so many slots, and chooses a seed with which searches are short: of
// GUIDs that are alike, some seeds leave too much in common.
func (t *table[T]) rehash(slots int) {
	old := t.slots
	t.shift = uint(64 - bits.TrailingZeros(uint(slots)))
	for range maxSeeds {
		t.slots = make([]*idEntry[T], slots)
		t.seed = [3]uint64{rand.Uint64(), rand.Uint64(), rand.Uint64() | 1}
		longest := 0
		for _, e := range old {
			if e != nil {
				longest = max(longest, t.put(e))
			}
		}
		if longest <= longSearch {
			return
		}
	}
}

// put puts e into the first free slot for it, and returns how many slots a search
// for it takes.
func (t *table[T]) put(e *idEntry[T]) (slots int) {
	mask := uint(len(t.slots) - 1)
	i := t.slot(&e.provider, e.number)
	for slots = 1; t.slots[i&mask] != nil; slots++ {
		i++
	}
	t.slots[i&mask] = e
	return slots
}

// find returns where the value of exactly the version is, or nil.
func (e *idEntry[T]) find(version uint8) *T {
	for i := range e.versions {
		if e.versions[i].version == version {
			return &e.versions[i].value
		}
	}
	return nil
}

// version returns where the value of a version is, and makes room for it.
func (e *idEntry[T]) version(v uint8) *T {
	if at := e.find(v); at != nil {
		return at
	}
	e.versions = append(e.versions, versionEntry[T]{version: v})
	return &e.versions[len(e.versions)-1].value
}
