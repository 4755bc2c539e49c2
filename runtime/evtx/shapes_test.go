package evtx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// BenchmarkShapes reads logs of n chunks in which each record is of a kind of its own.
func BenchmarkShapes(b *testing.B) {
	const inChunk = 30
	for _, n := range []int{16, 64, 256} {
		var chunks [][]byte
		for c := range n {
			w := newLog()
			for i := range inChunk {
				id := c*inChunk + i
				w.event(uint16(id), func() {
					w.open("EventData")
					w.open("Data", attr{name: "Name", text: fmt.Sprintf("Item%d", id)})
					w.place(0, etw.InUInt32)
					w.close()
					w.close()
				}, value{uint8(etw.InUInt32), []byte{1, 2, 3, 4}})
			}
			chunks = append(chunks, w.chunk(1+c*inChunk))
		}
		file := log(chunks...)
		b.Run(fmt.Sprintf("kinds=%d", n*inChunk), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					b.Fatal(err)
				}
				count := 0
				for range testio.Records(b, r.Records()) {
					count++
				}
				if count != n*inChunk {
					b.Fatalf("%d records of %d", count, n*inChunk)
				}
			}
		})
	}
}
