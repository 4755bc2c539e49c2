package code

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// A Lambdas tells lambdas of one method apart that have the same name. It has the numbers of
// their full names by that name, which stay where one output shows several profiles.
type Lambdas map[string]map[string]int

// names returns the names of frames for people: those of such lambdas with a number.
func (a Lambdas) names(frames []stacks.Frame) []string {
	met := make(map[string][]string)
	for i := range frames {
		f := &frames[i]
		if _, known := a[f.Name][f.Full]; !known && strings.Contains(f.Name, ".lambda") {
			met[f.Name] = append(met[f.Name], f.Full)
		}
	}
	for name, list := range met { // the compiler counts them, too: 10 is after 9
		order.Sort(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		if a[name] == nil {
			a[name] = make(map[string]int)
		}
		for _, full := range slices.Compact(list) {
			a[name][full] = len(a[name]) + 1
		}
	}
	shown := make([]string, len(frames))
	for i := range frames {
		f := &frames[i]
		shown[i] = f.Name
		if numbers := a[f.Name]; len(numbers) > 1 {
			shown[i] += " #" + strconv.Itoa(numbers[f.Full])
		}
	}
	return shown
}
