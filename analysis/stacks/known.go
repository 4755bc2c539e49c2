package stacks

import "hash/maphash"

// knownStacks finds stacks by their addresses as a whole, without a look at each frame: a hash
// table with open addressing.
type knownStacks struct {
	seed  maphash.Seed
	slots []knownStack // a power of two of them; those without a stack are free
	n     int
}

type knownStack struct {
	hash uint32
	id   ID
}

// hash returns the hash of a stack of a process.
func (k *knownStacks) hash(top int32, addresses []byte) uint32 {
	if k.slots == nil {
		k.seed, k.slots = maphash.MakeSeed(), make([]knownStack, 64)
	}
	h := maphash.Bytes(k.seed, addresses) ^ uint64(top)*0x9e3779b97f4a7c15
	return uint32(h ^ h>>32)
}

// find returns the stack of a hash for which is reports true, or 0.
func (k *knownStacks) find(hash uint32, is func(ID) bool) ID {
	mask := uint32(len(k.slots) - 1)
	for i := hash & mask; k.slots[i].id != 0; i = (i + 1) & mask {
		if x := &k.slots[i]; x.hash == hash && is(x.id) {
			return x.id
		}
	}
	return 0
}

// add adds a stack that find has not found.
func (k *knownStacks) add(hash uint32, id ID) {
	if k.n++; 4*k.n > 3*len(k.slots) {
		old := k.slots
		k.slots = make([]knownStack, 2*len(old))
		for _, x := range old {
			if x.id != 0 {
				k.put(x)
			}
		}
	}
	k.put(knownStack{hash, id})
}

func (k *knownStacks) put(x knownStack) {
	mask := uint32(len(k.slots) - 1)
	i := x.hash & mask
	for k.slots[i].id != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = x
}
