package system

// Windows tells of a machine in two ways: by the classic events of the kernel, and by
// providers with manifests. A trace may have both, of the same thing.

// A teller is one of the ways.
type teller uint8

const (
	classicKernel teller = 1 + iota
	provided
)

// hears reports whether what a teller says counts: it is the first that has said
// anything, and the other one would say it again.
func (t *teller) hears(who teller) bool {
	if *t == 0 {
		*t = who
	}
	return *t == who
}
