package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed docs.txt
var docsText string

// docs holds the meanings of things, by their names: a class ("Process"), an event
// ("Process/Start"), a field of a layout, a class or any ("Process.ExitStatus",
// "*.ProcessId"), or a map ("map WaitReason").
type docs struct {
	texts map[string]string
	used  map[string]bool
}

// readDocs reads lines of names, a colon and a text. Several names share a text
// if commas separate them; lines that start with a space go on with the one
// before.
func readDocs(text string) (*docs, error) {
	d := &docs{make(map[string]string), make(map[string]bool)}
	var names []string
	for i, line := range strings.Split(text, "\n") {
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == ' ':
			for _, name := range names {
				d.texts[name] += line
			}
			continue
		}
		list, says, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("docs.txt:%d: no colon", i+1)
		}
		names = strings.Split(list, ", ")
		for _, name := range names {
			if d.texts[name] != "" {
				return nil, fmt.Errorf("docs.txt:%d: %s is there twice", i+1, name)
			}
			d.texts[name] = says
		}
	}
	return d, nil
}

// of returns the text of the first name that has one.
func (d *docs) of(names ...string) string {
	for _, name := range names {
		if text := d.texts[name]; text != "" {
			d.used[name] = true
			return text
		}
	}
	return ""
}

// unused returns the names that mean nothing.
func (d *docs) unused() []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(d.texts)) {
		if !d.used[name] {
			list = append(list, name)
		}
	}
	return list
}
