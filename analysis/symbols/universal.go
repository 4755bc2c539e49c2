package symbols

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"github.com/etwgen/etwgen/analysis/internal/when"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Events of code by recorders of Linux: which parts of files are where in the memory of
// processes, and where functions are that were hit.

// A memory holds the native code of a process.
type memory struct {
	mappings []mapping
	symbols  []symbol
	sorted   bool
	files    bool // one of the mappings is of a file
	// For each, in the order of their starts, to find them by.
	mapped, named spans
}

// A mapping is a part of a file in memory, from a time on.
type mapping struct {
	start, end, offset uint64
	from               int64
	metadata           uint64
	path               string
}

// A symbol is a function. Its end belongs to it.
type symbol struct {
	start, end uint64
	from       int64
	name       string
	means      *Native // the name, once it was asked for
}

// record takes a record that no handler does: events of code by recorders of Linux, in
// events that traces describe.
func (a *Analysis) record(r *etw.Record) error {
	if r.Schema == nil || r.ProviderName != "Universal.System" {
		return nil
	}
	p := payload{b: r.Payload}
	switch r.Schema.Name {
	case "ProcessMapping":
		p.number() // the id
		m := mapping{start: p.number(), end: p.number(), offset: p.number(), path: p.text(), metadata: p.number(), from: when.Of(r)}
		if !p.bad && m.start < m.end {
			x := a.memory(ownerOf(r.ProcessID, m.start))
			x.mappings, x.sorted = append(x.mappings, m), false
			x.files = x.files || m.metadata != 0
		}
	case "ProcessSymbol":
		p.number()
		p.number() // the mapping
		s := symbol{start: p.number(), end: p.number(), name: p.text(), from: when.Of(r)}
		if !p.bad && s.start <= s.end && s.name != "" {
			x := a.memory(ownerOf(r.ProcessID, s.start))
			x.symbols, x.sorted = append(x.symbols, s), false
		}
	case "ProcessMappingMetadata":
		id, text := p.number(), p.text()
		if f, ok := fileOf(text); !p.bad && ok {
			if a.files == nil {
				a.files = make(map[uint64]fileID)
			}
			a.files[id] = f
			a.learnCode(id, text)
		}
	}
	return nil
}

// A fileID says which build of a file was mapped.
type fileID struct {
	buildID string // of an ELF file, as are the next two
	address uint64 // of its first segment with code, by the file
	offset  uint64 // of that segment in the file
	pdb     PDB    // of a PE file, as are its stamp and size
	stamp   uint32
	size    uint32
}

// fileOf reads a recorder's identity of a file, and reports whether that identifies it.
func fileOf(text string) (fileID, bool) {
	var facts struct {
		BuildID   string `json:"build_id"`
		Type      string `json:"type"`
		Name      string `json:"name"`
		Signature string `json:"signature"`
		Age       uint32 `json:"age"`
		DateTime  uint32 `json:"date_time"`
		Size      uint32 `json:"image_size"`
		Address   string `json:"p_vaddr"`
		Offset    string `json:"p_offset"`
	}
	if json.Unmarshal([]byte(text), &facts) != nil {
		return fileID{}, false
	}
	if facts.Type != "PE" {
		f := fileID{buildID: facts.BuildID}
		address, err := strconv.ParseUint(facts.Address, 0, 64)
		offset, err2 := strconv.ParseUint(facts.Offset, 0, 64)
		if err == nil && err2 == nil {
			f.address, f.offset = address, offset
		}
		return f, f.buildID != ""
	}
	f := fileID{stamp: facts.DateTime, size: facts.Size}
	if b, err := hex.DecodeString(facts.Signature); err == nil && len(b) == len(f.pdb.GUID) {
		f.pdb = PDB{GUID: etw.GUID(b), Age: facts.Age, Path: facts.Name} // in the order of the file
	}
	return f, f.stamp != 0 || f.pdb.GUID != etw.GUID{}
}

// virtual returns the address that an ELF file gives a place in it, or 0 if the place is
// not in its first segment with code, of which alone recorders tell.
func (f *fileID) virtual(m *mapping, offset uint64) uint64 {
	const page = 0xfff
	if f.address == 0 || m.offset != f.offset&^page {
		return 0
	}
	return offset - f.offset + f.address
}

// size returns how many bytes are mapped. Some ends are the last address.
func (m *mapping) size() uint64 { return m.end - m.start + m.end&1 }

// kernelMemory is the number under which the memory of the kernel is kept. Recorders tell
// of it with any process.
const kernelMemory = -1

// ownerOf returns whose memory an address is in.
func ownerOf(pid int64, address uint64) int64 {
	const kernelSpace = 0xffff800000000000
	if address >= kernelSpace {
		return kernelMemory
	}
	return pid
}

func (a *Analysis) memory(pid int64) *memory {
	if a.memories == nil {
		a.memories = make(map[int64]*memory)
	}
	x := a.memories[pid]
	if x == nil {
		x = new(memory)
		a.memories[pid] = x
	}
	return x
}

// A payload is read from front to back.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) number() uint64 {
	v, n := binary.Uvarint(p.b)
	if n <= 0 {
		p.bad, p.b = true, nil
		return 0
	}
	p.b = p.b[n:]
	return v
}

// text reads a text in UTF-8 with its length before it.
func (p *payload) text() string {
	if len(p.b) < 2 || len(p.b) < 2+int(binary.LittleEndian.Uint16(p.b)) {
		p.bad, p.b = true, nil
		return ""
	}
	n := int(binary.LittleEndian.Uint16(p.b))
	s := string(p.b[2 : 2+n])
	p.b = p.b[2+n:]
	return s
}

// Native returns the code by recorders of Linux at an address of a process, at a time in
// nanoseconds since 1970.
func (a *Analysis) Native(pid int64, address uint64, when time.Time) (Native, bool) {
	at := when.UnixNano()
	x := a.memories[ownerOf(pid, address)]
	if x == nil {
		return Native{}, false
	}
	x.sort()
	m, s := x.mapping(address, at), x.symbol(address, at)
	if s == nil && m == nil {
		return Native{NotCode: a.isData(ownerOf(pid, address), x, m)}, false
	}
	n := Native{NotCode: s == nil && a.isData(ownerOf(pid, address), x, m)}
	if s != nil {
		if s.means == nil {
			means := Jitted(s.name, 0)
			s.means = &means
		}
		n = *s.means
		n.Offset = address - s.start
	}
	if m != nil && n.Module == "" && m.path != "" {
		n.Module = m.path
		f := a.files[m.metadata]
		n.BuildID, n.PDB, n.TimeDateStamp, n.ImageSize, n.IL = f.buildID, f.pdb, f.stamp, f.size, f.stamp != 0
		if s == nil {
			n.Offset, n.InFile = address-m.start+m.offset, true
			n.MapOffset, n.MapSize = m.offset, m.size()
			n.VirtualAddress = f.virtual(m, n.Offset)
		}
	}
	return n, n.Module != "" || n.Function != ""
}

func (x *memory) sort() {
	if x.sorted {
		return
	}
	x.sorted = true
	order.Stable(x.mappings, func(a, b mapping) int { return cmp.Compare(a.start, b.start) })
	order.Stable(x.symbols, func(a, b symbol) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.from, b.from)) })
	x.mapped, x.named = spans{}, spans{}
	for i := range x.mappings {
		x.mapped.add(x.mappings[i].start, x.mappings[i].start+x.mappings[i].size()-1)
	}
	for i := range x.symbols {
		x.named.add(x.symbols[i].start, x.symbols[i].end)
	}
}

// mapping returns the part of a file that an address is in: of several the latest that was
// there at the time, or else the first that came.
func (x *memory) mapping(address uint64, at int64) *mapping {
	first, n := x.mapped.around(address)
	var best *mapping
	for i := first; i < n; i++ {
		m := &x.mappings[i]
		if address-m.start >= m.size() {
			continue
		}
		switch {
		case best == nil, best.from > at && m.from < best.from, m.from <= at && m.from >= best.from:
			best = m
		}
	}
	return best
}

// maxOverlap is how many symbols before an address are looked at.
const maxOverlap = 16

// symbol returns the function at an address, in the same manner.
func (x *memory) symbol(address uint64, at int64) *symbol {
	first, n := x.named.around(address)
	var best *symbol
	for i := n - 1; i >= max(first, n-maxOverlap); i-- {
		s := &x.symbols[i]
		if address > s.end {
			continue
		}
		switch {
		case best == nil, best.from > at && s.from < best.from,
			s.start == best.start && s.from == best.from: // of several names the first counts
			best = s
		}
	}
	return best
}

// Spans are parts of memory by their starts.
type spans struct {
	starts []uint64
	reach  []uint64 // the last address of those up to each one
}

func (s *spans) add(start, last uint64) {
	if n := len(s.reach); n > 0 {
		last = max(last, s.reach[n-1])
	}
	s.starts, s.reach = append(s.starts, start), append(s.reach, last)
}

// around returns which ones may have an address: from first up to but not including n.
func (s *spans) around(address uint64) (first, n int) {
	low, high := 0, len(s.starts)
	for low < high {
		if mid := int(uint(low+high) / 2); s.starts[mid] <= address {
			low = mid + 1
		} else {
			high = mid
		}
	}
	first = low
	for first > 0 && s.reach[first-1] >= address {
		first--
	}
	return first, low
}
