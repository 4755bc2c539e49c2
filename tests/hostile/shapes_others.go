package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"

	"github.com/etwgen/etwgen/runtime/gcdump"
)

// The shapes of files that the project does not write as traces are made here.
func init() {
	shapes = append(shapes,
		shape{"processes of Linux, each with a file and a stack", 2000, linuxProcesses, []string{"stat", "top", "timeline", "report"}},
		shape{"a dump of a list of objects", 8000, dumpOfObjects, []string{"heap", "heap --by holder", "report"}},
		shape{"folded stacks", 8000, foldedStacks, []string{"top", "tree"}},
	)
}

// linuxProcesses is a perf.data of n processes, each of which maps a file and is sampled with a stack
// in it that no other has.
func linuxProcesses(path string, n int) error {
	var data []byte
	record := func(kind uint32, parts ...any) {
		var body []byte
		for _, v := range parts {
			if text, ok := v.(string); ok { // with a NUL at least
				body = append(append(body, text...), make([]byte, 8-len(text)%8)...)
				continue
			}
			body, _ = binary.Append(body, binary.LittleEndian, v)
		}
		data = binary.LittleEndian.AppendUint32(data, kind)
		data = binary.LittleEndian.AppendUint16(data, 2) // of a program
		data = binary.LittleEndian.AppendUint16(data, uint16(8+len(body)))
		data = append(data, body...)
	}
	const mapping, name, sample = 1, 3, 9
	for i := range uint64(n) {
		pid, code, at := uint32(i+1), (i+1)<<16, (i+1)*1000
		record(name, pid, pid, "p"+strconv.Itoa(int(i)))
		record(mapping, pid, pid, code, uint64(1<<16), uint64(0), "/shape/"+strconv.Itoa(int(i)))
		record(sample, code|16, pid, pid, at, uint64(3), code|16, code|32, code|48)
	}
	const head, attr = 104, 96
	const clock, parts, frequency = 1, 1 | 2 | 4 | 32, 1 << 10 // a software event; address, thread, time, stack
	var b []byte
	for _, v := range []any{
		[]byte("PERFILE2"), uint64(head), uint64(attr + 16), uint64(head), uint64(attr + 16), uint64(head + attr + 16), uint64(len(data)), [48]byte{}, // the header
		uint32(clock), uint32(attr), uint64(0), uint64(4000), uint64(parts), uint64(0), uint64(frequency), [attr - 48]byte{}, [16]byte{},
	} {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	return os.WriteFile(path, append(b, data...), 0o666)
}

// dumpOfObjects is a .gcdump of a list whose items an array holds, too.
func dumpOfObjects(path string, n int) error {
	const root, array, first = 0, 1, 2
	b := gcdump.NewBuilder(2*n + first)
	typ := b.Type("Shape.T", "shape.dll")
	items := make([]int, n)
	for i := range items {
		items[i] = first + n + i
		refers := []int{items[i]}
		if i+1 < n {
			refers = append(refers, first+i+1)
		}
		b.Set(first+i, typ, uint64(first+i)*32, 24, refers)
		b.Set(items[i], typ, uint64(items[i])*32, 24, nil)
	}
	b.Set(array, typ, array*32, 24, items)
	b.Set(root, b.Type(gcdump.RootType, ""), 0, 0, []int{array, first})
	d, err := b.Dump(root)
	if err != nil {
		return err
	}
	return toFile(path, func(out *os.File) error {
		_, err := d.WriteTo(out)
		return err
	})
}

// foldedStacks are lines of a stack and a number, of which no frame is in another.
func foldedStacks(path string, n int) error {
	return toFile(path, func(out *os.File) error {
		b := bufio.NewWriter(out)
		for i := range n {
			fmt.Fprintf(b, "outer%d;middle%d;inner%d 1\n", i, i, i)
		}
		return b.Flush()
	})
}
