package profile

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// The profiles of gperftools, which pprof read before it had messages: words of one size,
// and then the map of memory as text. There are addresses and no names.
type gperftoolsWords struct {
	b     []byte
	size  int
	order binary.ByteOrder
}

// wordsOf tells the size and the order of words by the head, which is 0, 3, 0, a period, 0.
func wordsOf(head []byte) (w gperftoolsWords, ok bool) {
	for _, w := range []gperftoolsWords{{head, 8, binary.LittleEndian}, {head, 4, binary.LittleEndian}, {head, 8, binary.BigEndian}, {head, 4, binary.BigEndian}} {
		if len(head) >= 5*w.size && w.at(0) == 0 && w.at(1) == 3 && w.at(2) == 0 && w.at(3) > 0 && w.at(3) < 1e9 && w.at(4) == 0 {
			return w, true
		}
	}
	return w, false
}

// at returns a word. It must be there.
func (w *gperftoolsWords) at(i int) uint64 {
	b := w.b[i*w.size:]
	if w.size == 4 {
		return uint64(w.order.Uint32(b))
	}
	return w.order.Uint64(b)
}

func isGperftools(head []byte) bool {
	_, ok := wordsOf(head)
	return ok
}

// readGperftools reads a profile of gperftools. Callers are where calls return to.
func readGperftools(p *Profile, data []byte) error {
	w, _ := wordsOf(data)
	p.Types, p.Default = []ValueType{{"samples", "count"}, {"cpu", "nanoseconds"}}, 1
	p.Period, p.PeriodType = int64(w.at(3))*1000, ValueType{"cpu", "nanoseconds"}
	words, at := len(data)/w.size, 5
	offset := func() int64 { return int64(at * w.size) }
	type sample struct {
		count    uint64
		from, to int
	}
	var list []sample
	for {
		if at+3 > words {
			return p.wrong(offset(), "sample", "%w", errShort)
		}
		count, depth := w.at(at), w.at(at+1)
		if count == 0 && depth == 1 && w.at(at+2) == 0 { // the end
			at += 3
			break
		}
		if depth == 0 || depth > maxDepth || at+2+int(depth) > words {
			return p.wrong(offset(), "sample", "its stack has %d frames, for which there is no room", depth)
		}
		if count > uint64(math.MaxInt64/p.Period) {
			return p.wrong(offset(), "sample", "it counts %d times", count)
		}
		list = append(list, sample{count, at + 2, at + 2 + int(depth)})
		at += 2 + int(depth)
	}
	maps := memoryMaps(p, data[offset():])
	frames := make(map[uint64]int32)
	for _, s := range list {
		from := len(p.places)
		for i := s.from; i < s.to; i++ {
			address := w.at(i)
			if i > s.from && address > 0 {
				address-- // the call is before it
			}
			f, ok := frames[address]
			if !ok {
				f = p.addFrame(Frame{Address: address, Function: -1, Module: moduleAt(maps, address), Within: -1})
				frames[address] = f
			}
			p.places = append(p.places, f)
		}
		p.addSample(Sample{Stack: p.addStack(-1, from), Thread: -1}, int64(s.count), int64(s.count)*p.Period)
	}
	return nil
}

// A memoryMap is where a file with code is.
type memoryMap struct {
	from, to uint64
	module   int32
}

// memoryMaps reads the lines of /proc/self/maps, as far as they are of code.
func memoryMaps(p *Profile, text []byte) (maps []memoryMap) {
	modules := internTo(&p.Modules)
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 6 || !strings.Contains(f[1], "x") {
			continue
		}
		low, high, ok := strings.Cut(f[0], "-")
		from, err1 := strconv.ParseUint(low, 16, 64)
		to, err2 := strconv.ParseUint(high, 16, 64)
		if ok && err1 == nil && err2 == nil && from < to {
			maps = append(maps, memoryMap{from, to, modules.of(strings.Join(f[5:], " "))})
		}
	}
	return maps[:min(len(maps), maxMaps)]
}

// maxMaps is how many files with code are looked at.
const maxMaps = 1 << 12

func moduleAt(maps []memoryMap, address uint64) int32 {
	for i := range maps {
		if address >= maps[i].from && address < maps[i].to {
			return maps[i].module
		}
	}
	return -1
}
