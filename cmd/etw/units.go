package main

func lastOf(values []int64) int64 { return values[len(values)-1] }

// lastTotal is what all samples weigh.
func (p *profiled) lastTotal() int64 {
	if len(p.Types) == 0 {
		return 0
	}
	return lastOf(p.Totals())
}

func percentColumn(name, head string) column {
	c := measured(name, 1)
	c.head = head
	return c
}
