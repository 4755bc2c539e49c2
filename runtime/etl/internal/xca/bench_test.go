package xca

import (
	"encoding/binary"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// A packedBuffer is a compressed buffer of a trace, and its decoded length.
type packedBuffer struct {
	packed []byte
	size   int
}

// recorded returns the compressed buffers of a real trace.
func recorded(b *testing.B) (buffers []packedBuffer) {
	file := testio.Read(b, corpus.File(b, "etl", "net.4.5.2.x64.etl"))
	for first := true; len(file) >= 0x48; first = false {
		n := binary.LittleEndian.Uint32(file)
		if !first {
			size := int(binary.LittleEndian.Uint32(file[0x30:])) - 0x48
			buffers = append(buffers, packedBuffer{file[0x48:n], size})
		}
		file = file[n:]
	}
	return buffers
}

// BenchmarkDecode decodes the buffers of a real trace, packed again for the
// algorithms that no trace at hand uses. Bytes are those of the output.
func BenchmarkDecode(b *testing.B) {
	for _, a := range algorithms() {
		buffers := recorded(b)
		total, largest := 0, 0
		for i, p := range buffers {
			total += p.size
			largest = max(largest, p.size)
			data := make([]byte, p.size)
			if _, err := DecodePlain(data, p.packed); err != nil {
				b.Fatal(err)
			}
			if a.name != "plain" {
				buffers[i].packed = a.encode(nil, data)
			}
		}
		dst := make([]byte, largest)
		b.Run(a.name, func(b *testing.B) {
			b.SetBytes(int64(total))
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range buffers {
					if _, err := a.decode(dst[:p.size], p.packed); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
