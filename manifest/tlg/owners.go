package tlg

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/etwgen/etwgen/internal/ecma335"
	"github.com/etwgen/etwgen/internal/order"
)

// An attribution finds out which provider writes an event, by the functions of a file: the
// target of one is the metadata of events, and the handles of providers, which are variables.
// Events and providers are known by their places in the file's lists.
type attribution struct {
	file      *File
	image     *ecma335.Image
	data      []byte
	events    map[uint32]int   // by the addresses that code refers to
	handles   map[uint32][]int // providers, by the addresses of variables that lead to them
	low, high uint32           // all of these addresses
	functions []function
	ofEvents  []pair // a function and an event that it refers to
	ofHandles []pair // a function and a provider
}

// A pair is two numbers that belong together.
type pair struct{ a, b int }

// maxPairs bounds how many references are looked at. A file with more has code that no compiler
// made, and the owners of its events stay unknown.
const maxPairs = 1 << 20

func comparePairs(p, q pair) int { return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b)) }

// sorted returns pairs in order, each once.
func sorted(list []pair) []pair {
	order.Sort(list, comparePairs)
	return slices.Compact(list)
}

// startingWith returns those of sorted pairs that begin with a number.
func startingWith(list []pair, a int) []pair {
	from, _ := slices.BinarySearchFunc(list, pair{a, 0}, comparePairs)
	to, _ := slices.BinarySearchFunc(list, pair{a + 1, 0}, comparePairs)
	return list[from:to]
}

// The places in the metadata of an event that compilers let code refer to.
var eventPlaces = []uint32{0, 1, eventHead}

// decide sets the owners of all events.
func (a *attribution) decide() {
	providers := a.file.Providers
	for _, e := range a.file.Events {
		e.Owners = providers
	}
	if len(providers) < 2 {
		return
	}
	a.addresses()
	scan := map[uint16]func(code []byte, rva uint32){machineX64: a.scanX64, machineARM64: a.scanARM64}[a.image.Machine]
	if scan == nil || len(a.handles) == 0 {
		return
	}
	a.functions = functionsOf(a.image)
	for _, s := range a.image.Sections {
		if s.Characteristics&executable != 0 {
			if code := a.bytes(s); code != nil {
				scan(code, s.VirtualAddress)
			}
		}
	}
	a.vote()
}

// Of the characteristics of a section.
const executable = 0x20000000

// bytes returns the bytes of a section.
func (a *attribution) bytes(s ecma335.Section) []byte {
	from := min(uint64(s.Offset), uint64(len(a.data)))
	return a.data[from:min(from+uint64(s.Size), uint64(len(a.data)))]
}

// address returns where a place in the file is in memory.
func (a *attribution) address(offset int64) (uint32, bool) {
	for _, s := range a.image.Sections {
		if n := offset - int64(s.Offset); n >= 0 && n < int64(s.Size) {
			return s.VirtualAddress + uint32(n), true
		}
	}
	return 0, false
}

// addresses collects the targets of code: the metadata of events, the handles of providers
// and pointers to these.
func (a *attribution) addresses() {
	for i, e := range a.file.Events {
		if rva, ok := a.address(e.Offset); ok {
			for _, n := range eventPlaces {
				a.events[rva+n] = i
				a.span(rva + n)
			}
		}
	}
	named := make(map[uint64][]int)
	for i, p := range a.file.Providers {
		if rva, ok := a.address(p.Offset); ok {
			named[a.image.Base+uint64(rva)+1+guidSize] = []int{i}
		}
	}
	// A handle begins with a level, and a pointer to the name follows in the next word.
	handles := make(map[uint64][]int)
	a.pointers(named, func(rva uint32, p []int) {
		a.handle(rva-wordSize, p)
		handles[a.image.Base+uint64(rva-wordSize)] = p
	})
	a.pointers(handles, a.handle)
}

// wordSize is the size of a pointer on the machines whose code is read.
const wordSize = 8

func (a *attribution) handle(rva uint32, p []int) {
	for _, one := range p {
		if !slices.Contains(a.handles[rva], one) {
			a.handles[rva] = append(a.handles[rva], one)
		}
	}
	a.span(rva)
}

func (a *attribution) span(rva uint32) { a.low, a.high = min(a.low, rva), max(a.high, rva) }

// pointers finds the variables that point to one of some addresses.
func (a *attribution) pointers(to map[uint64][]int, found func(rva uint32, p []int)) {
	if len(to) == 0 {
		return
	}
	low, high := ^uint64(0), uint64(0)
	for v := range to {
		low, high = min(low, v), max(high, v)
	}
	for _, s := range a.image.Sections {
		if s.Characteristics&executable != 0 {
			continue
		}
		b := a.bytes(s)
		for at := 0; at+wordSize <= len(b); at += wordSize {
			if v := binary.LittleEndian.Uint64(b[at:]); v >= low && v <= high && to[v] != nil {
				found(s.VirtualAddress+uint32(at), to[v])
			}
		}
	}
}

// refer notes that code at an address refers to another one.
func (a *attribution) refer(code, to uint32) {
	if to < a.low || to > a.high {
		return
	}
	event, isEvent := a.events[to]
	providers := a.handles[to]
	if !isEvent && providers == nil || len(a.ofEvents)+len(a.ofHandles) > maxPairs {
		return
	}
	i := a.functionAt(code)
	if i < 0 {
		return
	}
	if isEvent {
		a.ofEvents = append(a.ofEvents, pair{i, event})
	}
	for _, p := range providers {
		a.ofHandles = append(a.ofHandles, pair{i, p})
	}
}

// vote narrows the owners of each event to the providers that the functions refer to which
// refer to the event.
func (a *attribution) vote() {
	if len(a.ofEvents)+len(a.ofHandles) > maxPairs {
		return
	}
	handles := sorted(a.ofHandles)
	var votes []pair // an event and a provider
	for _, u := range sorted(a.ofEvents) {
		for _, h := range startingWith(handles, u.a) {
			votes = append(votes, pair{u.b, h.b})
		}
		if len(votes) > maxPairs {
			return
		}
	}
	votes = sorted(votes)
	for len(votes) > 0 {
		of := startingWith(votes, votes[0].a)
		e := a.file.Events[of[0].a]
		e.Owners = nil
		for _, v := range of {
			e.Owners = append(e.Owners, a.file.Providers[v.b])
		}
		votes = votes[len(of):]
	}
}
