package main

import "strings"

// didYouMean returns a question for the name that is most like a wrong one, or ""
// if none is.
func didYouMean(wrong string, names []string) string {
	if best := nearest(wrong, names); best != "" {
		return " (did you mean " + best + "?)"
	}
	return ""
}

// nearest returns the name that is most like a wrong one, or "" if none is.
func nearest(wrong string, names []string) string {
	lower := strings.ToLower(wrong)
	best, least := "", max(2, len(wrong)/3)+1
	for _, name := range names {
		if d := distance(lower, strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	if best != "" {
		return best
	}
	for _, name := range names {
		if n := strings.ToLower(name); len(lower) > 2 && strings.Contains(n, lower) {
			return name
		}
	}
	return ""
}

// distance returns how many letters must be changed, added or left out to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			corner, row[j+1] = row[j+1], min(corner+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
