package heap

// An Entry is an object with the objects that it refers to.
type Entry struct {
	Address    uint64
	Type       int // of TypeNames
	Bytes      uint64
	References []uint32 // of the snapshot: not to be changed
}

// Entry returns object i, 0 <= i < Objects.
func (s *Snapshot) Entry(i int) Entry {
	g := s.graph
	return Entry{g.addr[i], int(g.typ[i]), g.sizeOf(uint32(i)), g.out(uint32(i))}
}

// TypeNames returns the names of the types of entries. Several can have one name.
func (s *Snapshot) TypeNames() []string { return s.names }

// A Root keeps an object alive.
type Root struct {
	Object int
	Kind   string // as in Roots
	Name   string // of a static field
}

// EachRoot returns all roots, by kind.
func (s *Snapshot) EachRoot() []Root {
	list := make([]Root, 0, len(s.roots))
	for _, r := range s.roots {
		list = append(list, Root{int(r.object), r.kind.String(), r.name})
	}
	return list
}
