package code

import (
	"context"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// Within returns the samples of a profile in the time of a query.
func Within(p *stacks.Profile, q stacks.Query) *stacks.Profile {
	if !isCut(q) {
		return p
	}
	view, err := p.Query(context.Background(), q)
	if err != nil { // which contexts alone cause
		return p
	}
	return view.Profile()
}

func isCut(q stacks.Query) bool { return !q.From.IsZero() || !q.To.IsZero() }
