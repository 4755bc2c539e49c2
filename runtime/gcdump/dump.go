package gcdump

// A Dump is the contents of a file.
type Dump struct {
	Types     []Type
	Addresses []uint64 // of each node, 0 where it has none
	Root      int      // the node from which all that is alive is reached
	TotalSize int64    // of all nodes
	// Is64 says that the process had pointers of 64 bits.
	Is64 bool
	// Of a large heap a file can have a sample; its counts and sizes are to be multiplied.
	CountMultiplier, SizeMultiplier float32
	TypeMultipliers                 []float32 // by type, of a sample
	JavaScript                      bool      // the heap has objects of JavaScript
	DotNet                          *DotNet   // nil where the file does not tell
	Log                             Text      // of the recorder
	Ticks                           int64     // 100 ns since the year 1 in local time, or 0
	Machine, Process                Text
	ProcessID                       int32 // 0 where the file does not tell
	Commit, WorkingSet              int64 // bytes
	Interop                         *Interop
	Tool                            Text // that wrote the file

	offsets  []int32 // of each node in blob
	blob     []byte
	versions map[string]version
	hasTool  bool
	hasSkip  bool // the place for Interop, which can be empty
	has64    bool // the graph says Is64, too
}

// A Text is a string that may be missing, which is not the same as an empty one.
type Text struct {
	Value string
	Valid bool
}

// A Type is that of nodes.
type Type struct {
	Name   Text
	Size   int32 // of the nodes that do not say their own
	Module Text  // file of the module that declares it
}

// A DotNet is the part of a file about the heap of .NET.
type DotNet struct {
	Size     int64 // of all segments
	Segments []Segment
}

// A Segment is a part of the heap.
type Segment struct {
	Start, End int64
	// Ends are those of generation 0, 1, 2, of large objects, and of pinned ones, which old
	// files do not have.
	Ends [5]int64
}

// An Interop lists wrappers of COM.
type Interop struct {
	Count    int32
	Wrappers [3]int32 // how many wrappers of COM objects, COM callable wrappers, and interfaces
	Raw      []byte   // these, one behind the other
	Modules  []InteropModule
}

// An InteropModule is code that implements interfaces.
type InteropModule struct {
	Base      int64
	Size      int32
	TimeStamp int32
	File      Text
}

type version struct{ version, oldest int32 }

// A Node is one object, or stands for roots.
type Node struct {
	Type     int
	Size     int64
	Children []int // nodes that it refers to
}

// Nodes returns the number of nodes.
func (d *Dump) Nodes() int { return len(d.offsets) }

// Node returns node i, 0 <= i < Nodes.
func (d *Dump) Node(i int) Node {
	n, _, _ := d.node(i, nil)
	return n
}

// Undefined reports whether something refers to node i, but nothing describes it.
func (d *Dump) Undefined(i int) bool { return d.offsets[i] == 0 }

// node decodes node i, with children in the memory of list.
func (d *Dump) node(i int, list []int) (n Node, end int, ok bool) {
	c := cursor{b: d.blob, at: int(d.offsets[i])}
	typ := c.cint()
	n.Type = int(typ >> 1)
	if typ < 0 || n.Type >= len(d.Types) {
		return n, c.at, false
	}
	n.Size = int64(d.Types[n.Type].Size)
	if typ&1 != 0 {
		n.Size = c.cint()
	}
	count := c.cint()
	if n.Size < 0 || count < 0 || count > int64(len(c.b)-min(c.at, len(c.b))) {
		return n, c.at, false
	}
	n.Children = list[:0]
	for range count {
		to := int64(i) + c.cint()
		if to < 0 || to >= int64(len(d.offsets)) {
			return n, c.at, false
		}
		n.Children = append(n.Children, int(to))
	}
	return n, c.at, !c.bad
}

// A cursor reads the compressed numbers of the blob.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

// maxGroups is how many groups of seven bits a number has at most.
const maxGroups = 5

// cint reads a signed number: groups of seven bits, the highest first, of which bit 6 of the
// first one is the sign.
func (c *cursor) cint() int64 {
	var v int64
	for i := range maxGroups {
		if c.at >= len(c.b) {
			break
		}
		x := c.b[c.at]
		c.at++
		if i == 0 {
			v = int64(int8(x<<1) >> 1)
		} else {
			v = v<<7 | int64(x&0x7f)
		}
		if x&0x80 == 0 {
			return v
		}
	}
	c.bad = true
	return 0
}

// appendCint appends v in as few groups as hold it.
func appendCint(b []byte, v int64) []byte {
	groups := 1
	for groups < maxGroups && v>>(7*groups-1) != v>>63 {
		groups++
	}
	for i := groups - 1; i > 0; i-- {
		b = append(b, byte(v>>(7*i))|0x80)
	}
	return append(b, byte(v)&0x7f)
}
