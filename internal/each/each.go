// Package each makes lists of lists.
package each

// Of returns what f makes of each element, in their order: nil of an empty list.
func Of[E, T any](list []E, f func(E) T) (all []T) {
	for _, x := range list {
		all = append(all, f(x))
	}
	return all
}
