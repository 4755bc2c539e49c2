// Package small has two files that use each other.
//
// Long: tests read this.
package small

func plain() { ahead(); back(nil) }

type pair[T any] struct{ x, y T }

// Long: a branch of each kind.
func (p *pair[T]) branches(n int, some []int, c chan int) {
	for range some {
		if n > 0 && n < 2 {
			plain()
		}
	}
	switch {
	case n > 3:
	default:
	}
	select {
	case <-c:
	}
}
