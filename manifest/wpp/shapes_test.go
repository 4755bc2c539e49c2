package wpp

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkShapes reads files of n messages, each with names of its own.
func BenchmarkShapes(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		var file strings.Builder
		file.WriteString("5a5d7c52-0b39-4f0b-9d0b-8d1c2f3a4b5c Shop // SRC=Till.Main.c MJ= MN=\n")
		for i := range n {
			fmt.Fprintf(&file, "#typev Till_%d %d \"%%0 %%10!s!\" //   LEVEL=TRACE_LEVEL_ERROR FLAGS=FLAG_%d FUNC=Sell%d\n{\nstate, ItemListByte(Closed,Open%d) -- 10\n}\n", i, 10+i, i%32, i, i)
		}
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				all, err := ReadTMF(strings.NewReader(file.String()))
				if err != nil || len(all) != 1 || len(all[0].Events) != n {
					b.Fatalf("%d providers, %v", len(all), err)
				}
			}
		})
	}
}
