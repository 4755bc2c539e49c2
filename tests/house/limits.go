package main

import (
	"cmp"
	"slices"
)

// A measure is one of the things that have a limit.
type measure struct {
	kind, name string // such as file and gen/gen.go
	level      int
	excused    bool // the code says why it is longer
}

// limits are how much there may be of each kind.
var limits = map[string]int{
	"file":       500,  // lines
	"function":   70,   // lines
	"complexity": 20,   // of a function
	"circle":     2000, // lines, of the files of a package that use each other
	"main":       500,  // lines of the package
}

// larger are the limits of packages that are one thing by their nature: they do not grow.
var larger = map[string]int{
	"circle cmd/etwgen":           2950,
	"circle gen":                  2600,
	"circle manifest":             3109,
	"circle manifest/eventsource": 2200,
	"circle runtime/etw":          4100,
}

func (m measure) key() string { return m.kind + " " + m.name }

func (m measure) limit() int { return cmp.Or(larger[m.key()], limits[m.kind]) }

func (m measure) over() bool { return m.level > m.limit() && !m.excused }

// measures returns all that has a limit. Of packages main that of cmd/etw alone has one: it
// is a table of commands.
func measures(files []*file, found map[string]circle) []measure {
	var all []measure
	root := 0
	for _, f := range files {
		if f.folder == "cmd/etw" {
			root += f.lines
		}
		all = append(all, measure{"file", f.path(), f.lines, f.excused})
		for _, fn := range f.funcs {
			name := f.path() + " " + fn.name
			all = append(all, measure{"function", name, fn.lines, fn.excused}, measure{"complexity", name, fn.complexity, fn.excused})
		}
	}
	for folder, c := range found {
		all = append(all, measure{"circle", folder, c.lines, false})
	}
	all = append(all, measure{"main", "cmd/etw", root, false})
	slices.SortFunc(all, func(a, b measure) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return all
}
