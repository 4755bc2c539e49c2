package counters

// Drain returns the points since the last call, and forgets it: an analysis that is drained
// as records come works for days in little memory. Counters and metrics stay, also those
// that said nothing.
func (a *Analysis) Drain() *Result {
	res := a.Result()
	for _, p := range a.processes.All() {
		p.State.notes = nil
		for _, c := range p.State.counters {
			c.Points = nil
		}
		for _, m := range p.State.metrics {
			m.Points = nil
		}
	}
	return res
}
