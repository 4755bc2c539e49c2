package perfmap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// BenchmarkShapes reads jitdumps of n functions, each of which is moved four times.
func BenchmarkShapes(b *testing.B) {
	for _, n := range []int{4000, 16000, 64000} {
		file := dump(binary.LittleEndian)[:48]
		record := func(kind uint32, words []uint64, text string) {
			file = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(file, kind), uint32(16+8*len(words)+len(text)))
			file, _ = binary.Append(file, binary.LittleEndian, append([]uint64{1}, words...))
			file = append(file, text...)
		}
		for i := range uint64(n) {
			record(0, []uint64{42, i << 8, i << 8, 16, i}, fmt.Sprintf("function %d\x00", i))
		}
		for move := range uint64(4) {
			for i := range uint64(n) {
				at := move<<40 | i<<8
				record(1, []uint64{42, at + 1<<40, at, at + 1<<40, 16, i}, "")
			}
		}
		b.Run(fmt.Sprintf("moved=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				count := 0
				if err := ReadDump(bytes.NewReader(file), func(uint64, uint64, string) { count++ }); err != nil || count < n {
					b.Fatalf("%d functions of %d: %v", count, n, err)
				}
			}
		})
	}
}
