package heap

import (
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/analysis/measure"
	"github.com/etwgen/etwgen/analysis/table"
)

// A row is of a snapshot.
type row[T any] struct {
	at *Snapshot
	of *T
}

// Tables returns the tables of a result: the objects of snapshots, and sums of them.
func (r *Result) Tables() []table.View {
	return []table.View{
		each(r, "type", "Types", func(s *Snapshot) []Type { return s.Types },
			table.Count("count", func(x *row[Type]) int { return x.of.Count }).As("Objects"),
			table.Count("bytes", func(x *row[Type]) uint64 { return x.of.Bytes }),
			table.Amount("sharePercent", func(x *row[Type]) measure.Float { return x.of.SharePercent }),
			table.Count("retainedBytes", func(x *row[Type]) uint64 { return x.of.RetainedBytes }).Helped("would be free without all objects of the type"),
			table.Text("type", func(x *row[Type]) string { return x.of.Type }).About()).Ordered("retainedBytes"),
		each(r, "object", "Objects that retain most", func(s *Snapshot) []Object { return s.Largest },
			table.Count("retainedBytes", func(x *row[Object]) uint64 { return x.of.RetainedBytes }),
			table.Count("bytes", func(x *row[Object]) uint64 { return x.of.Bytes }),
			table.Text("address", func(x *row[Object]) string { return x.of.Address }),
			table.Text("type", func(x *row[Object]) string { return x.of.Type }).About(),
			table.Text("path", func(x *row[Object]) string { return strings.Join(shortened(x.of.Path), " > ") }).Helped("from a root")).Ordered("retainedBytes"),
		r.holders(),
		each(r, "root", "Roots", func(s *Snapshot) []RootKind { return s.Roots },
			table.Count("count", func(x *row[RootKind]) int { return x.of.Count }),
			table.Text("kind", func(x *row[RootKind]) string { return x.of.Kind }).About()).Ordered("count"),
		table.Parts("snapshot", "Snapshots", r.Snapshots, (*Snapshot).pid,
			table.Moment("atMs", func(s *Snapshot) measure.Float { return s.AtMS }),
			table.Count("objects", func(s *Snapshot) int { return s.Objects }),
			table.Count("bytes", func(s *Snapshot) uint64 { return s.Bytes }),
			table.Count("reachableObjects", func(s *Snapshot) int { return s.ReachableObjects }).Spared(1),
			table.Count("reachableBytes", func(s *Snapshot) uint64 { return s.ReachableBytes }),
			table.Count("references", func(s *Snapshot) int { return s.References }).Spared(2),
			table.Flag("complete", func(s *Snapshot) bool { return s.Complete })),
		r.changes(),
	}
}

func (s *Snapshot) pid() int64 { return s.PID }

// each returns a view of rows of snapshots, with the time of each if there are several.
func each[T any](r *Result, name, title string, of func(*Snapshot) []T, columns ...table.Column[*row[T]]) table.View {
	at := table.Moment("atMs", func(x *row[T]) measure.Float { return x.at.AtMS })
	if len(r.Snapshots) < 2 {
		at = at.For(table.Programs)
	}
	rows := func(s *Snapshot) []*row[T] {
		list := table.Refs(make([]row[T], len(of(s))))
		for i, x := range table.Refs(of(s)) {
			*list[i] = row[T]{s, x}
		}
		return list
	}
	return table.Each(name, title, r.Snapshots, (*Snapshot).pid, rows, append([]table.Column[*row[T]]{at}, columns...)...)
}

// changes lists how types changed from the first snapshot to the last.
func (r *Result) changes() table.View {
	var rows []Change
	if n := len(r.Snapshots); n > 1 {
		rows = Diff(r.Snapshots[0], r.Snapshots[n-1])
	}
	return table.Of("change", "Changes", table.Refs(rows),
		table.Count("count", func(c *Change) int { return c.Count }),
		table.Count("bytes", func(c *Change) int64 { return c.Bytes }),
		table.Count("retainedBytes", func(c *Change) int64 { return c.RetainedBytes }),
		table.Text("type", func(c *Change) string { return c.Type }).About())
}

// A held row is a holder in the tree of a type.
type heldRow struct {
	*Holder
	of    *Held
	depth int
}

// rowsOf lists the trees of holders, each before those who hold it.
func rowsOf(held []*Held) (list []heldRow) {
	var add func(of *Held, h *Holder, depth int)
	add = func(of *Held, h *Holder, depth int) {
		list = append(list, heldRow{h, of, depth})
		for _, x := range h.Holders {
			add(of, x, depth+1)
		}
	}
	for _, of := range held {
		add(of, &of.Holder, 0)
		if of.Unreachable > 0 {
			add(of, &Holder{Name: unheld, Count: of.Unreachable, Bytes: of.UnreachableBytes}, 1)
		}
	}
	return list
}

// unheld stands for the holder of objects that no root keeps alive.
const unheld = "(nothing: they wait for finalizers, or are held weakly)"

// shortened returns a path on which types in a row are one, with their number.
func shortened(path []string) (list []string) {
	for i := 0; i < len(path); {
		n := 1
		for i+n < len(path) && path[i+n] == path[i] {
			n++
		}
		name := path[i]
		if n > 1 {
			name = fmt.Sprintf("%s × %d", name, n)
		}
		list = append(list, name)
		i += n
	}
	return list
}

// holders lists who holds types, as a tree of which each row holds that above it.
func (r *Result) holders() table.View {
	type held = row[heldRow]
	share := func(x *held) measure.Float {
		return measure.Ratio(measure.Known(100*float64(x.of.Bytes)), measure.Known(float64(x.of.of.Bytes)))
	}
	return each(r, "holder", "Who holds types", func(s *Snapshot) []heldRow { return rowsOf(s.Held) },
		table.Count("count", func(x *held) int { return x.of.Count }).As("Objects"),
		table.Count("bytes", func(x *held) uint64 { return x.of.Bytes }),
		table.Amount("sharePercent", share).Helped("of the bytes of the type"),
		table.Text("type", func(x *held) string { return x.of.of.Name }).For(table.Programs),
		table.Count("depth", func(x *held) int { return x.of.depth }).For(table.Programs),
		table.Text("name", func(x *held) string { return x.of.Name }).For(table.Programs),
		table.Text("holder", func(x *held) string { return strings.Repeat("  ", x.of.depth) + x.of.shown() }).For(table.People).About())
}

// shown returns the name with its kind.
func (x heldRow) shown() string {
	switch {
	case x.depth == 0 || x.Name == unheld:
		return x.Name
	case x.Root:
		return "< root: " + x.Name
	}
	return "< " + x.Name
}
