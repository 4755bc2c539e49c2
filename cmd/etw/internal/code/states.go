package code

import "github.com/etwgen/etwgen/analysis/stacks"

// byState returns how many samples have each state, and the sums of their last value.
func byState(p *stacks.Profile) (samples, sums map[string]int64) {
	samples, sums = make(map[string]int64), make(map[string]int64)
	for _, part := range p.Parts() {
		for _, l := range part.Labels {
			if l.Key == "state" {
				samples[l.Value] += part.Samples
				sums[l.Value] += part.Values[len(part.Values)-1]
			}
		}
	}
	return samples, sums
}

// threadsOf returns how many threads samples are of.
func threadsOf(p *stacks.Profile) int {
	seen := make(map[[2]int64]bool)
	for _, part := range p.Parts() {
		seen[[2]int64{part.Process, part.Thread}] = true
	}
	return len(seen)
}
