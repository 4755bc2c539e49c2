package firefox

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// shared writes the parts of stacks. A frame is a function of its own, but for its line.
func (e *encoder) shared() {
	var frames []*stacks.Frame
	var callers, of []int // of stacks
	for _, p := range append([]*stacks.Profile{e.p.Samples}, e.p.Caused...) {
		if p == nil {
			continue
		}
		base := len(frames)
		for k := range p.Frames {
			frames = append(frames, &p.Frames[k])
		}
		for id := 1; id < p.Stacks(); id++ {
			caller, frame := p.Split(stacks.ID(id))
			offset := 0
			if caller != 0 {
				offset = id - int(caller)
			}
			callers, of = append(callers, offset), append(of, base+frame)
		}
	}
	e.text(`"stackTable":{`)
	e.column("frame", len(of), func(i int) string { return strconv.Itoa(of[i]) })
	e.text(",")
	e.column("prefixOffset", len(of), func(i int) string { return strconv.Itoa(callers[i]) })
	n := len(frames)
	e.text(`,"length":` + strconv.Itoa(len(of)) + "},\n" + `"frameTable":{`)
	e.same("address", n, "-1")
	e.same("inlineDepth", n, "0")
	e.column("category", n, func(i int) string { return strconv.Itoa(categoryOf(frames[i])) })
	e.text(",")
	e.same("subcategory", n, "0")
	e.column("func", n, strconv.Itoa)
	e.text(",")
	e.same("nativeSymbol", n, "null")
	e.same("innerWindowID", n, "0")
	e.column("line", n, func(i int) string {
		if frames[i].Line > 0 {
			return strconv.Itoa(frames[i].Line)
		}
		return "null"
	})
	e.text(",")
	e.same("column", n, "null")
	e.same("originalLocation", n, "null")
	e.text(`"length":` + strconv.Itoa(n) + "},\n" + `"funcTable":{`)
	e.functions(frames)
	e.text(`"nativeSymbols":{"libIndex":[],"address":[],"name":[],"functionSize":[],"length":0},"sourceLocationTable":{"source":[],"line":[],"column":[],"length":0},` + "\n" + `"stringArray":`)
	e.json(e.list) // behind all that has a text
}

// functions writes the functions of frames, with their modules.
func (e *encoder) functions(frames []*stacks.Frame) {
	n := len(frames)
	modules, files := numbers{}, numbers{}
	e.column("name", n, func(i int) string { return strconv.Itoa(e.string(cmp.Or(frames[i].Name, "?"))) })
	e.text(",")
	e.same("isJS", n, "false")
	e.same("relevantForJS", n, "false")
	e.column("resource", n, func(i int) string {
		if frames[i].Module == "" {
			return "-1"
		}
		return strconv.Itoa(modules.of(frames[i].Module))
	})
	e.text(",")
	e.column("source", n, func(i int) string {
		if frames[i].File == "" {
			return "null"
		}
		return strconv.Itoa(files.of(frames[i].File))
	})
	e.text(",")
	e.same("lineNumber", n, "null")
	e.same("columnNumber", n, "null")
	e.same("originalLocation", n, "null")
	e.text(`"length":` + strconv.Itoa(n) + "},\n" + `"resourceTable":{`)
	m := len(modules.list)
	e.same("lib", m, "null")
	e.column("name", m, func(i int) string {
		return strconv.Itoa(e.string(modules.list[i][strings.LastIndexAny(modules.list[i], `/\`)+1:]))
	})
	e.text(",")
	e.same("host", m, "null")
	e.same("type", m, "1") // a library
	e.text(`"length":` + strconv.Itoa(m) + `},"sources":{`)
	m = len(files.list)
	e.same("id", m, "null")
	e.column("filename", m, func(i int) string { return strconv.Itoa(e.string(files.list[i])) })
	e.text(",")
	e.same("startLine", m, "1")
	e.same("startColumn", m, "1")
	e.same("sourceMapURL", m, "null")
	e.same("content", m, "null")
	e.text(`"length":` + strconv.Itoa(m) + "},\n")
}

// numbers are the numbers of texts.
type numbers struct {
	ids  map[string]int
	list []string
}

func (n *numbers) of(s string) int {
	i, ok := n.ids[s]
	if !ok {
		if n.ids == nil {
			n.ids = make(map[string]int)
		}
		i = len(n.list)
		n.ids[s], n.list = i, append(n.list, s)
	}
	return i
}

// counters writes the counters, each value of one as a track. The viewer adds up changes, so
// these are written.
func (e *encoder) counters() {
	if e.p.Happened == nil {
		return
	}
	type key struct {
		process     int64
		name, value string
	}
	type point struct {
		at     int64
		number float64
	}
	points, keys := make(map[key][]point), []key{}
	for i := range e.p.Happened.Counters {
		c := &e.p.Happened.Counters[i]
		for _, v := range c.Values {
			k := key{c.Process, c.Name, v.Name}
			if points[k] == nil {
				keys = append(keys, k)
			}
			points[k] = append(points[k], point{c.At, v.Number})
		}
	}
	for i, k := range keys {
		list := points[k]
		order.Stable(list, func(a, b point) int { return cmp.Compare(a.at, b.at) })
		main := slices.IndexFunc(e.threads, func(t *thread) bool { return t.process == k.process })
		e.text(",{"[min(1, max(0, 1-i)):] + `"name":`)
		name := k.name
		if k.value != "value" {
			name += " " + k.value
		}
		e.json(name)
		e.text(`,"category":"CPU","description":`)
		e.json(name)
		e.text(`,"pid":"` + strconv.FormatInt(k.process, 10) + `","mainThreadIndex":` + strconv.Itoa(max(main, 0)) +
			`,"display":{"graphType":"line-accumulated","unit":"","color":"grey","markerSchemaLocation":null,"sortWeight":50,"label":`)
		e.json(name)
		e.text(`,"tooltipRows":[{"type":"value","source":"accumulated","format":{"unit":"number"},"label":`)
		e.json(name)
		e.text(`}]},"samples":{`)
		e.column("time", len(list), func(i int) string { return milliseconds(list[i].at) })
		e.text(",")
		last := 0.0
		e.column("count", len(list), func(i int) string {
			change := list[i].number - last
			last = list[i].number
			return finite(change)
		})
		e.text(`,"length":` + strconv.Itoa(len(list)) + "}}")
	}
}
