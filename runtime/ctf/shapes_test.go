package ctf

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// BenchmarkShapes reads traces of n events, each of a kind of its own, and such as whose types are
// each made of the one before.
func BenchmarkShapes(b *testing.B) {
	const head = `/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };
stream { event.header := struct { integer { size = 32; } id; }; };
`
	for _, shape := range []struct {
		name string
		kind func(i int) string
	}{
		{"kinds", func(i int) string {
			return fmt.Sprintf("event { name = \"e%d\"; id = %d; fields := struct { integer { size = 32; } f%d; }; };\n", i, i, i)
		}},
		{"names", func(i int) string {
			return fmt.Sprintf("typealias integer { size = 32; } := t%d;\nevent { name = \"e%d\"; id = %d; fields := struct { t%d f; }; };\n", i, i, i, i)
		}},
	} {
		for _, n := range []int{1000, 4000, 16000} {
			metadata, stream := []byte(head), []byte(nil)
			for i := range n {
				metadata = append(metadata, shape.kind(i)...)
				stream = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(stream, uint32(i)), 7)
			}
			b.Run(fmt.Sprintf("%s=%d", shape.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got, err := read(b, metadata, stream); got != n || err != nil {
						b.Fatalf("%d events of %d: %v", got, n, err)
					}
				}
			})
		}
	}
}
