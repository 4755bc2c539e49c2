package code

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
)

// A Lambdas tells lambdas of one method apart that have the same name. It has their full
// names by that name, in the order of their numbers, which stay what they are where one
// output shows several profiles.
type Lambdas map[string][]string

// names returns the names of frames for people: those of such lambdas with a number.
func (a Lambdas) names(frames []stacks.Frame) []string {
	met := make(map[string][]string)
	for i := range frames {
		f := &frames[i]
		if strings.Contains(f.Name, ".lambda") && !slices.Contains(a[f.Name], f.Full) {
			met[f.Name] = append(met[f.Name], f.Full)
		}
	}
	for name, list := range met { // the compiler counts them, too: 10 is after 9
		slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		a[name] = append(a[name], slices.Compact(list)...)
	}
	shown := make([]string, len(frames))
	for i := range frames {
		f := &frames[i]
		shown[i] = f.Name
		if list := a[f.Name]; len(list) > 1 {
			shown[i] += " #" + strconv.Itoa(slices.Index(list, f.Full)+1)
		}
	}
	return shown
}
