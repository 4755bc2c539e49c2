package symbols

import (
	"fmt"
	"testing"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// BenchmarkNative looks for addresses among a thousand mappings and ten thousand symbols,
// as many as traces of Linux have of a process.
func BenchmarkNative(b *testing.B) {
	var mux etw.Mux
	a := New(&mux)
	x := a.memory(1)
	for i := range uint64(1000) {
		x.mappings = append(x.mappings, mapping{start: i << 20, end: i<<20 + 0xff000, path: "/lib/oven.so"})
	}
	for i := range uint64(10000) {
		x.symbols = append(x.symbols, symbol{start: i << 15, end: i<<15 + 0x7fff, name: fmt.Sprintf("void [Shop] Bakery.Oven%d::Bake(int32)[Tier1]", i)})
	}
	at := uint64(0)
	for i := range uint64(10000) {
		a.Native(1, i<<15, time.Unix(0, 0))
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Native(1, at, time.Unix(0, 0))
		at = (at + 0x1234567) % (1000 << 20)
	}
}
