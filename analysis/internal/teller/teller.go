// Package teller counts facts once that a trace of Windows tells twice. Windows tells of a
// machine by the classic events of the kernel, and by providers with manifests; a trace may
// have both, of the same thing.
package teller

// A Teller is one of the ways, or none.
type Teller uint8

const (
	Classic Teller = 1 + iota
	Provided
)

// Hears reports whether the events of a teller count: it is the first that has said
// anything, and the other one would say it again.
func (t *Teller) Hears(who Teller) bool {
	if *t == 0 {
		*t = who
	}
	return *t == who
}
