package stacks

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/etwgen/etwgen/runtime/etw"
)

// knownStacks finds stacks by their addresses as a whole: a hash table with open addressing, and a
// copy of the addresses, since the frames of a stack are in many places of a tree.
type knownStacks struct {
	seed   maphash.Seed
	slots  []knownStack // a power of two of them; those without a stack are free
	n      int
	copies []byte
}

type knownStack struct {
	hash uint32
	id   ID
	at   int32 // its copy, + 1, or 0
}

// maxCopies is how many bytes of copies there are. Other stacks are looked up in the tree.
const maxCopies = 1 << 25

// copyHead is the size of the numbers before the addresses of a copy: see appendHead.
const copyHead = 8

// appendHead appends the rest of a stack: its process, the size of its addresses and their bytes.
func appendHead(b []byte, top int32, s etw.Stack) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(top))
	return binary.LittleEndian.AppendUint32(b, uint32(len(s.Addresses))<<1|uint32(s.PtrSize.Bytes())>>3)
}

// hash returns the hash of a stack of a process.
func (k *knownStacks) hash(top int32, s etw.Stack) uint32 {
	if k.slots == nil {
		k.seed, k.slots = maphash.MakeSeed(), make([]knownStack, 64)
	}
	h := maphash.Bytes(k.seed, s.Addresses) ^ uint64(top)*0x9e3779b97f4a7c15
	return uint32(h ^ h>>32)
}

// find returns the stack of a process with these addresses and their hash, or 0. It asks is about
// stacks without a copy.
func (k *knownStacks) find(hash uint32, top int32, s etw.Stack, is func(ID) bool) ID {
	mask := uint32(len(k.slots) - 1)
	for i := hash & mask; k.slots[i].id != 0; i = (i + 1) & mask {
		if x := &k.slots[i]; x.hash == hash && (x.at > 0 && k.hasCopy(x.at-1, top, s) || x.at == 0 && is(x.id)) {
			return x.id
		}
	}
	return 0
}

func (k *knownStacks) hasCopy(at, top int32, s etw.Stack) bool {
	var head [copyHead]byte
	b := k.copies[at:]
	return bytes.Equal(b[:copyHead], appendHead(head[:0], top, s)) && bytes.Equal(b[copyHead:copyHead+len(s.Addresses)], s.Addresses)
}

// add adds a stack that find has not found.
func (k *knownStacks) add(hash uint32, id ID, top int32, s etw.Stack) {
	if k.n++; 4*k.n > 3*len(k.slots) {
		old := k.slots
		k.slots = make([]knownStack, 2*len(old))
		for _, x := range old {
			if x.id != 0 {
				k.put(x)
			}
		}
	}
	x := knownStack{hash: hash, id: id}
	if len(k.copies)+copyHead+len(s.Addresses) <= maxCopies {
		x.at = int32(len(k.copies)) + 1
		k.copies = append(appendHead(k.copies, top, s), s.Addresses...)
	}
	k.put(x)
}

func (k *knownStacks) put(x knownStack) {
	mask := uint32(len(k.slots) - 1)
	i := x.hash & mask
	for k.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = x
}
