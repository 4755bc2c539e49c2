package top

import (
	"slices"
	"testing"
)

func TestList(t *testing.T) {
	l := List[int]{N: 3}
	if !l.Wants(0) || l.All() != nil {
		t.Error("an empty list is not empty")
	}
	for i := range 100 {
		l.Add(float64(i*37%100), i)
	}
	if got := l.All(); !slices.Equal(got, []int{27, 54, 81}) { // 99, 98, 97
		t.Errorf("%v", got)
	}
	if l.Wants(90) || !l.Wants(200) {
		t.Error("what is wanted is wrong")
	}
	var even List[int]
	for i := range 500 {
		even.Add(1, i)
	}
	if got := even.All(); len(got) != 100 || got[0] != 0 || got[99] != 99 {
		t.Errorf("%v", got)
	}
}
