package etw

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDecimal holds decimals of 96 bits against math/big, which programs do not link for them.
func TestDecimal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		scale, negative := random.IntN(29), random.IntN(2)
		high, low := random.Uint32()>>random.IntN(33), random.Uint64()>>random.IntN(65)
		p := binary.LittleEndian.AppendUint32(nil, uint32(negative)<<31|uint32(scale)<<16)
		p = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(p, high), low)
		n := new(big.Int).SetUint64(uint64(high))
		want := n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(low)).String()
		want = strings.Repeat("0", max(scale+1-len(want), 0)) + want
		if scale > 0 {
			want = want[:len(want)-scale] + "." + want[len(want)-scale:]
		}
		if want = strings.Repeat("-", negative) + want; string(appendDecimal(nil, p)) != want {
			t.Fatalf("%x is %s, want %s", p, appendDecimal(nil, p), want)
		}
	}
}
