package msf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkShapes reads MSFZ files of n streams, which lie in chunks of 4 KiB.
func BenchmarkShapes(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		streams, random := make([][]byte, n), rand.NewChaCha8([32]byte{})
		for i := range streams {
			streams[i] = make([]byte, 200)
			random.Read(streams[i])
		}
		file := pack(b, streams, 4096, wayDeflate)
		b.Run(fmt.Sprintf("streams=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := Open(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					b.Fatal(err)
				}
				for i := range streams {
					if _, err := m.Stream(i); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
