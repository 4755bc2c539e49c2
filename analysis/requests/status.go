package requests

import (
	"cmp"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/internal/order"
)

// A Status is how often activities ended with a status.
type Status struct {
	Status string `json:"status"`
	Count  int    `json:"count"`
}

// statuses lists how often there was which status.
func statuses(of map[string]int) []Status {
	var list []Status
	for status, n := range of {
		list = append(list, Status{status, n})
	}
	order.Sort(list, func(a, b Status) int { return cmp.Compare(a.Status, b.Status) })
	return list
}

// failures is how many failed, if any told whether it did.
func failures(n int, told bool) (f measure.Float) {
	if told {
		f = measure.Known(float64(n))
	}
	return f
}
