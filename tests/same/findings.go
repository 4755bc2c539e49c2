package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// findings are the differences by command, those of one kind together.
type findings struct {
	mu       sync.Mutex
	commands map[string]*command
}

type command struct {
	ran, differ, gone int
	kinds             map[string]*kind
}

// A kind is a difference of one manner, whatever the numbers are.
type kind struct {
	count         int
	what, example string
}

func (f *findings) of(l line) *command {
	c := f.commands[l.command()]
	if c == nil {
		c = &command{kinds: map[string]*kind{}}
		f.commands[l.command()] = c
	}
	return c
}

func (f *findings) gone(l line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of(l).gone++
}

var numbers = regexp.MustCompile(`[0-9][0-9.,]*`)

func (f *findings) add(l line, differences []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(l)
	c.ran++
	if len(differences) > 0 {
		c.differ++
	}
	for _, what := range differences {
		key := numbers.ReplaceAllString(what, "#")
		if c.kinds[key] == nil {
			c.kinds[key] = &kind{what: what, example: l.String()}
		}
		c.kinds[key].count++
	}
}

// print writes the findings and reports whether there are any.
func (f *findings) print(w io.Writer, most int) bool {
	var same []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(f.commands)) {
		c := f.commands[name]
		switch {
		case c.gone > 0:
			fmt.Fprintf(w, "%s: gone\n", name)
		case c.differ == 0:
			same = append(same, fmt.Sprintf("%s %d", name, c.ran))
		default:
			fmt.Fprintf(w, "%s: %d of %d differ\n", name, c.differ, c.ran)
			c.print(w, most)
		}
		total += c.differ
	}
	fmt.Fprintf(w, "the same: %s\n", cmp.Or(strings.Join(same, ", "), "nothing"))
	return total > 0
}

func (c *command) print(w io.Writer, most int) {
	kinds := slices.SortedFunc(maps.Values(c.kinds), func(a, b *kind) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.what, b.what))
	})
	for i, k := range kinds {
		if i == most {
			fmt.Fprintf(w, "  and %d kinds more\n", len(kinds)-most)
			break
		}
		fmt.Fprintf(w, "%5d  %s\n       %s\n", k.count, strings.ReplaceAll(k.what, "\n", "\n         "), k.example)
	}
}
