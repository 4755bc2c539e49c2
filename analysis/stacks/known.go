package stacks

import (
	"hash/maphash"

	"github.com/etwgen/etwgen/runtime/etw"
)

// knownStacks finds stacks by their addresses as a whole, since the frames of a stack are in many
// places of a tree. It is a hash table with open addressing, which knows a stack by two hashes
// whose seeds nobody knows: among as many stacks as there is room for, two have 96 bits in common
// in one of 10^16 traces. Their addresses themselves would have to come from memory each time.
type knownStacks struct {
	seeds [2]maphash.Seed
	slots []knownStack // a power of two of them; those without a stack are free
	n     int
	near  []knownStack // stacks that were found last, for a table that does not fit into caches
}

// How many of those there are, for how large a table.
const nearStacks, farStacks = 1 << 13, 1 << 16

type knownStack struct {
	stackHash
	id ID
}

type stackHash struct {
	place uint64
	check uint32
}

// hash returns the hash of a stack of a process.
func (k *knownStacks) hash(top int32, s etw.Stack) stackHash {
	if k.slots == nil {
		k.seeds, k.slots = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, make([]knownStack, 64)
	}
	of := uint64(top)<<1 | uint64(s.PtrSize.Bytes())>>3 // the same bytes are other addresses
	place := maphash.Bytes(k.seeds[0], s.Addresses) ^ of*0x9e3779b97f4a7c15
	return stackHash{place ^ place>>32, uint32(maphash.Bytes(k.seeds[1], s.Addresses))}
}

// find returns the stack with a hash, or 0.
func (k *knownStacks) find(hash stackHash) ID {
	var near *knownStack
	if k.near != nil {
		if near = &k.near[hash.place%nearStacks]; near.stackHash == hash {
			return near.id
		}
	}
	mask := uint64(len(k.slots) - 1)
	for i := hash.place & mask; ; i = (i + 1) & mask {
		if x := &k.slots[i]; x.id == 0 || x.stackHash == hash {
			if near != nil {
				*near = *x
			}
			return x.id
		}
	}
}

// add adds a stack that find has not found.
func (k *knownStacks) add(hash stackHash, id ID) {
	if k.n++; 4*k.n > 3*len(k.slots) {
		old := k.slots
		k.slots = make([]knownStack, 2*len(old))
		if len(k.slots) >= farStacks {
			k.near = make([]knownStack, nearStacks)
		}
		for _, x := range old {
			if x.id != 0 {
				k.put(x)
			}
		}
	}
	k.put(knownStack{hash, id})
}

func (k *knownStacks) put(x knownStack) {
	mask := uint64(len(k.slots) - 1)
	i := x.place & mask
	for k.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = x
}
