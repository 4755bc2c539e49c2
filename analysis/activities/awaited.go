package activities

import (
	"cmp"
	"sort"

	"github.com/etwgen/etwgen/internal/order"
)

// nameAwaits names awaits after the activity within it that ended with the await, the
// innermost one. One that has the activity's own name is the same request, as another source
// tells of it.
func (w *walk) nameAwaits(parts []part, own string) {
	if len(parts) == 0 {
		return
	}
	order.Sort(parts, func(a, b part) int { return cmp.Compare(a.to, b.to) })
	for i := range w.parts {
		p := &w.parts[i]
		if p.Kind != Awaiting && p.Wait == 0 {
			continue
		}
		var best part
		first := sort.Search(len(parts), func(i int) bool { return parts[i].to > max(p.From, p.To-w.soon) })
		for _, c := range parts[first:min(len(parts), first+maxLooked)] {
			if c.to > p.To+w.soon {
				break
			}
			if c.from < p.To && c.name != own && (best.name == "" || c.to-p.To > best.to-p.To+w.soon || c.to > best.to-w.soon && c.from > best.from) {
				best = c
			}
		}
		p.Name = cmp.Or(best.name, p.Name)
	}
}
