package schema

import (
	"strings"
	"unsafe"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Schemas are made of many small things that live as long as each other. Arenas
// make them some dozens at a time.

// A slab hands out slices of T.
type slab[T any] struct{ free []T }

// slabSize is the number of elements that are allocated at once.
const slabSize = 64

// take returns a slice of n elements.
func (s *slab[T]) take(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(s.free) {
		if n >= slabSize/2 {
			return make([]T, n)
		}
		s.free = make([]T, slabSize)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// A descArena makes the parts of descriptions.
type descArena struct {
	events slab[etw.EventDesc]
	fields slab[etw.FieldDesc]
	text   textArena
	made   int // bytes of events and fields
	// open holds the fields of lists that are not closed yet, those of inner ones
	// after those of outer ones.
	open []etw.FieldDesc
}

// event returns a new description of an event.
func (a *descArena) event() *etw.EventDesc {
	a.made += int(unsafe.Sizeof(etw.EventDesc{}))
	return &a.events.take(1)[0]
}

// list returns a new list of n fields.
func (a *descArena) list(n int) []etw.FieldDesc {
	a.made += n * int(unsafe.Sizeof(etw.FieldDesc{}))
	return a.fields.take(n)
}

// begin starts a list of fields, which end(begin()) finishes. Fields are added
// to it with add.
func (a *descArena) begin() int { return len(a.open) }

func (a *descArena) add(f etw.FieldDesc) { a.open = append(a.open, f) }

func (a *descArena) end(begin int) []etw.FieldDesc {
	list := a.list(len(a.open) - begin)
	copy(list, a.open[begin:])
	a.open = a.open[:begin]
	return list
}

// A textArena makes strings.
type textArena struct{ b *strings.Builder }

// utf16 returns the text of p.
func (a *textArena) utf16(p []byte) string {
	const chunk = 8 << 10
	need := len(p)/2*3 + 1 // of UTF-8, at most
	if a.b == nil || a.b.Cap()-a.b.Len() < need {
		a.b = new(strings.Builder)
		a.b.Grow(max(chunk, need))
	}
	start := a.b.Len()
	for i := 0; i+2 <= len(p); i += 2 {
		if p[i+1] == 0 && p[i] < 0x80 {
			a.b.WriteByte(p[i])
			continue
		}
		a.b.WriteString(etw.UTF16(p[i : len(p)&^1]).String())
		break
	}
	return a.b.String()[start:]
}
