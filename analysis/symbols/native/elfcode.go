package native

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/xz"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/internal/quota"
)

// A codeFile is the functions of an ELF file, by virtual address.
type codeFile struct {
	table
	starts table // of the code that the file says how to unwind, without names
	loads  []elfSegment
	hasIt  bool // the code, and so all places of it
}

// readCode reads the functions of an ELF file: those of its symbol table, those that it
// offers to others, those that it has packed, of which unpack is the quota, and the stubs by
// which it calls others.
func readCode(x *elfFile, unpack *quota.Quota) (*codeFile, error) {
	c := &codeFile{hasIt: x.hasCode()}
	for _, s := range x.segments {
		if s.kind == segmentLoad && s.flags&segmentExecute != 0 {
			c.loads = append(c.loads, s)
		}
	}
	for i := range x.sections {
		if s := &x.sections[i]; s.flags&sectionExecute != 0 {
			c.bound(s.address + s.n)
		}
	}
	if err := c.addSymbols(x); err != nil {
		return nil, err
	}
	c.addPacked(x, unpack)
	c.addStubs(x)
	c.starts.list = frameStarts(x)
	return c, nil
}

// The bytes of an entry of a table of symbols, by how wide the file is.
const (
	narrowSymbol = 16
	wideSymbol   = 24
)

// An elfSymbol is an entry of a table of symbols.
type elfSymbol struct {
	name        uint32
	kind        uint8
	binding     uint8
	section     uint16
	value, size uint64
}

func (x *elfFile) symbolSize() int {
	if x.wide {
		return wideSymbol
	}
	return narrowSymbol
}

func (x *elfFile) symbol(b []byte) elfSymbol {
	f := fields{x, b}
	s := elfSymbol{name: f.small()}
	if !x.wide {
		s.value, s.size = f.large(), f.large()
	}
	s.kind, s.binding, s.section = f.b[0]&15, f.b[0]>>4, x.order.Uint16(f.b[2:])
	f.b = f.b[4:]
	if x.wide {
		s.value, s.size = f.large(), f.large()
	}
	return s
}

// symbols returns the entries of a table, and their names.
func (x *elfFile) symbols(s *elfSection) (entries []byte, names string, err error) {
	b, err := x.data(s)
	if err != nil || uint64(s.link) >= uint64(len(x.sections)) {
		return nil, "", err
	}
	text, err := x.data(&x.sections[s.link])
	return b, string(text), err
}

// addSymbols adds the functions of all tables of symbols.
func (c *codeFile) addSymbols(x *elfFile) error {
	for i := range x.sections {
		s := &x.sections[i]
		if s.kind != sectionSymbols && s.kind != sectionDynamic {
			continue
		}
		b, names, err := x.symbols(s)
		if err != nil {
			return err
		}
		for size := x.symbolSize(); len(b) >= size; b = b[size:] {
			if sym := x.symbol(b); x.isCode(&sym) {
				name, err := x.textAt(names, sym.name)
				if err != nil {
					return err
				}
				name, _, _ = strings.Cut(name, "@") // the version
				if !strings.HasPrefix(name, "$") {  // the kind of code that begins
					c.addRanked(sym.value, sym.size, name, sym.rank())
				}
			}
		}
	}
	return nil
}

// The kinds of symbols.
const (
	symbolPlain    = 0
	symbolFunction = 2
	symbolChoice   = 10 // the function that chooses the function
)

// isCode reports whether a symbol is of code of the file.
func (x *elfFile) isCode(s *elfSymbol) bool {
	switch s.kind {
	case symbolFunction, symbolChoice:
		return s.section != 0
	case symbolPlain:
		return s.section != 0 && int(s.section) < len(x.sections) && x.sections[s.section].flags&sectionExecute != 0
	}
	return false
}

func (s *elfSymbol) rank() rank {
	const global, weak = 1, 2
	switch {
	case s.kind == symbolPlain:
		return ofLabel
	case s.kind == symbolChoice:
		return ofChoice
	case s.binding == global:
		return ofAll
	case s.binding == weak:
		return ofAllWeak
	}
	return ofFile
}

// Bounds of a table of symbols that is packed. Real ones unpack to four to eight times
// their size.
const (
	maxPacked     = 16 << 20
	maxUnpacked   = 128 << 20
	unpackedTimes = 16
	leastUnpacked = 1 << 20
	unpackedOfDir = 512 << 20 // of all its files together
)

// addPacked adds the functions of the ELF file that a stripped one may have inside,
// packed. One that is damaged has none.
func (c *codeFile) addPacked(x *elfFile, unpack *quota.Quota) {
	s := x.section(".gnu_debugdata")
	if s == nil || s.n > maxPacked {
		return
	}
	b, err := x.data(s)
	if err != nil {
		return
	}
	limit := min(unpackedTimes*len(b)+leastUnpacked, maxUnpacked, int(*unpack))
	b, err = xz.Unpack(b, limit)
	if err != nil {
		return
	}
	*unpack -= quota.Quota(len(b))
	inner, err := openELF(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	_ = c.addSymbols(inner)
}

// join adds the functions of a file of symbols for the same code.
func (c *codeFile) join(other *codeFile) {
	c.list = append(c.list, other.list...)
	if !c.hasIt {
		c.bounds = append(c.bounds, other.bounds...)
	}
	if other.hasIt {
		c.loads, c.hasIt, c.starts = other.loads, true, other.starts
	}
}

// finish makes the tables ready once all files are joined. Where functions without a size
// end, those say that are unwound.
func (c *codeFile) finish() {
	c.starts.sort()
	for _, s := range c.starts.list {
		c.bounds = append(c.bounds, s.at)
	}
	c.sort()
	c.bounds = nil
}

// name names a place by its virtual address; plain makes names those that people know.
func (c *codeFile) name(n *symbols.Native, at uint64, plain func(string) string) Source {
	if name, offset, ok := c.find(at); ok {
		n.Function, n.Offset, n.InFile = plain(name), offset, false
		return FromELF
	}
	if _, offset, ok := c.starts.find(at); ok {
		n.Function, n.Unnamed = "sub_"+strconv.FormatUint(at-offset, 16), true
		n.Offset, n.InFile = offset, false
		return FromFrames
	}
	return FromNothing
}

// address returns the virtual address of a place in the file, if it is loaded as code.
func (c *codeFile) address(offset uint64) (uint64, bool) {
	for _, s := range c.loads {
		const page = 0xfff
		if begin := s.at &^ page; offset >= begin && offset-begin < s.n+s.at-begin {
			return offset - s.at + s.address, true
		}
	}
	return 0, false
}
