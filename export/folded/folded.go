// Package folded writes a profile as folded stacks: a line for each stack, with its frames
// from the outermost on, separated by semicolons, and its weight. Flame graph tools of all
// kinds read it. Use it for scripts and for other flame graph tools.
package folded

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// Write writes the last value of the samples of a profile, in its own unit, such as
// nanoseconds. Stacks that weigh nothing are left out.
func Write(w io.Writer, p *stacks.Profile) error {
	b := bufio.NewWriterSize(w, 1<<16)
	v := p.View()
	f := &folder{w: b, p: p, v: v, names: make([]string, len(p.Frames))}
	for i := range p.Frames {
		f.names[i] = name(p.Frames[i].Name)
	}
	f.walk()
	if f.err != nil {
		return f.err
	}
	return b.Flush()
}

// name returns a name such that it is one frame of one line.
func name(s string) string {
	if s == "" {
		return "?"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ':'
		case r < ' ' || r == 0x7f:
			return ' '
		}
		return r
	}, s)
}

// A folder goes through the tree of a profile.
type folder struct {
	w     *bufio.Writer
	p     *stacks.Profile
	v     *stacks.View
	names []string
	line  []byte
	err   error
}

// An open is a stack whose callees are still to be written.
type open struct {
	callees []stacks.ID
	length  int // of the line with its callers
}

// walk writes the lines, those with the same callers one after the other. It keeps no
// more than the stack that it is at.
func (f *folder) walk() {
	path := []open{{f.callees(0), 0}}
	for len(path) > 0 && f.err == nil {
		top := &path[len(path)-1]
		f.line = f.line[:top.length]
		if len(top.callees) == 0 {
			path = path[:len(path)-1]
			continue
		}
		id := top.callees[0]
		top.callees = top.callees[1:]
		if len(f.line) > 0 {
			f.line = append(f.line, ';')
		}
		_, frame := f.p.Split(id)
		f.line = append(f.line, f.names[frame]...)
		length := len(f.line)
		if self := f.v.Self(id); self[len(self)-1] > 0 {
			f.line = strconv.AppendInt(append(f.line, ' '), self[len(self)-1], 10)
			_, f.err = f.w.Write(append(f.line, '\n'))
		}
		path = append(path, open{f.callees(id), length})
	}
}

// callees returns the callees of a stack, by name.
func (f *folder) callees(id stacks.ID) []stacks.ID {
	list := f.v.Called(id)
	order.Sort(list, func(a, b stacks.ID) int {
		_, x := f.p.Split(a)
		_, y := f.p.Split(b)
		return cmp.Or(cmp.Compare(f.names[x], f.names[y]), cmp.Compare(a, b))
	})
	return list
}
