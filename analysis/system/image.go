package system

import (
	"cmp"
	"iter"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// An Image is a file that is mapped into a process to be run, while it is.
type Image struct {
	Lifetime
	Base, Size uint64
	// Path is as the trace has it: [Machine.Path] returns the usual form.
	Path string
	// TimeDateStamp and Checksum are those of its header, 0 if they are unknown.
	TimeDateStamp, Checksum uint32
	// BuildID identifies an ELF file.
	BuildID string
	// PDB identifies the symbols of native code, ILPDB those that the managed image
	// had which native code was made of.
	PDB, ILPDB PDB

	named     build  // as events about versions have it, whose time stamp may be 0
	original  string // as the same events have its name
	inherited bool   // by a fork, on Linux, as far as its parts are known
	inferred  bool   // from what came up of it; no event says that it was loaded
}

// A PDB identifies a file of symbols.
type PDB struct {
	Name string
	GUID etw.GUID
	Age  uint32
}

// end returns the first address behind the image. One of unknown size has at
// least its first page.
func (i *Image) limit() uint64 {
	end := i.Base + max(i.Size, 4096)
	if end < i.Base {
		return ^uint64(0)
	}
	return end
}

// Images are those of one process, or of the kernel, over time. The zero Images is
// ready for use.
type Images struct {
	all  []*Image
	open map[uint64]*Image // those that are loaded, by base
	left map[uint64]*Image // those that were unloaded last, by base
	// sorted is all, by base. reach[i] is the highest limit of sorted[:i+1].
	sorted []*Image
	reach  []uint64
}

// All returns the images in the order in which they came up.
func (s *Images) All() []*Image { return s.all }

// At returns the image that an address was in at a time, or nil. Of several, of
// which the end of one is missing in the trace, it is the one that came last.
func (s *Images) At(address uint64, at int64) *Image {
	var best *Image
	for i := range s.over(address) {
		if i.Covers(at) && (best == nil || i.later(best)) {
			best = i
		}
	}
	return best
}

// hold bounds the span in which an address is in the same image.
func (s *Images) hold(address uint64, c *constant) {
	for i := range s.over(address) {
		c.bound(&i.Lifetime)
	}
}

// over iterates over the images that an address was in at any time.
func (s *Images) over(address uint64) iter.Seq[*Image] {
	return func(yield func(*Image) bool) {
		s.index()
		n, _ := slices.BinarySearchFunc(s.sorted, address, func(i *Image, a uint64) int {
			if i.Base <= a {
				return -1
			}
			return 1
		})
		for k := n - 1; k >= 0 && s.reach[k] > address; k-- {
			if i := s.sorted[k]; address < i.limit() && !yield(i) {
				return
			}
		}
	}
}

// later reports whether i was loaded after j, as far as is known.
func (i *Image) later(j *Image) bool {
	if i.Started != j.Started {
		return i.Started
	}
	return i.Started && i.Start > j.Start
}

func (s *Images) index() {
	if len(s.sorted) == len(s.all) {
		return
	}
	s.sorted = append(s.sorted[:0], s.all...)
	order.Stable(s.sorted, func(a, b *Image) int { return cmp.Compare(a.Base, b.Base) })
	s.reach = s.reach[:0]
	highest := uint64(0)
	for _, i := range s.sorted {
		highest = max(highest, i.limit())
		s.reach = append(s.reach, highest)
	}
}

//go:noinline
func (s *Images) add(base uint64) *Image {
	i := &Image{Base: base}
	if s.open == nil {
		s.open = make(map[uint64]*Image)
	}
	s.all = append(s.all, i)
	s.open[base] = i
	return i
}

// resize sets the size of an image that is in s.
func (s *Images) resize(i *Image, size uint64) {
	if i.Size != size {
		i.Size = size
		s.sorted = s.sorted[:0]
	}
}

// load returns the image that is loaded now.
func (s *Images) load(base uint64, at int64) *Image {
	if i := s.open[base]; i != nil {
		if i.Started && i.Start == at || i.inferred {
			i.start(at)
			return i
		}
		i.end(at) // which the trace does not have
	}
	i := s.add(base)
	i.start(at)
	return i
}

// has returns the image that is loaded at a base.
func (s *Images) has(base uint64) *Image {
	if i := s.open[base]; i != nil {
		return i
	}
	return s.add(base)
}

// unload returns the image that is unloaded now.
func (s *Images) unload(base uint64, at int64) *Image {
	i := s.has(base)
	i.end(at)
	delete(s.open, base)
	if s.left == nil {
		s.left = make(map[uint64]*Image)
	}
	s.left[base] = i
	return i
}
