// Package speedscope writes a profile as the files that https://www.speedscope.app opens:
// a profile for each thread, with its samples in the order of time. Use it to look at
// samples one after the other.
package speedscope

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/internal/order"
)

// Schema is the schema that the files name.
const Schema = "https://www.speedscope.app/file-format-schema.json"

// Options have the facts that a profile lacks.
type Options struct {
	Name string
	// Thread returns the name of a thread of a process; nil gives it its number.
	Thread func(process, thread int64) string
}

// units are those that the format knows.
var units = map[string]string{"nanoseconds": "nanoseconds", "bytes": "bytes"}

// Write writes the last value of the samples of a profile.
func Write(w io.Writer, p *stacks.Profile, o Options) error {
	e := &encoder{w: bufio.NewWriterSize(w, 1<<16), p: p, o: o, unit: "none"}
	if len(p.Types) > 0 {
		e.unit = cmp.Or(units[p.Types[len(p.Types)-1].Unit], "none")
	}
	e.text(`{"$schema":`)
	e.json(Schema)
	e.text(`,"name":`)
	e.json(o.Name)
	e.text(`,"exporter":"etwgen","activeProfileIndex":0,"shared":{"frames":[`)
	for i := range p.Frames {
		e.frame(i, &p.Frames[i])
	}
	e.text("]},\n\"profiles\":[")
	for i, t := range byThread(p) {
		if i > 0 {
			e.text(",\n")
		}
		e.profile(t)
	}
	e.text("]}\n")
	return e.w.Flush()
}

type encoder struct {
	w     *bufio.Writer
	p     *stacks.Profile
	o     Options
	unit  string
	buf   []byte
	stack []int
}

// text writes a text. An error stays in the writer, whose Flush returns it.
func (e *encoder) text(s string) { e.w.WriteString(s) }

func (e *encoder) json(s string) {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD")) // no error: it is a string
	e.w.Write(b)
}

func (e *encoder) frame(i int, f *stacks.Frame) {
	if i > 0 {
		e.text(",\n")
	}
	e.text(`{"name":`)
	e.json(cmp.Or(f.Name, "?"))
	if file := cmp.Or(f.File, f.Module); file != "" {
		e.text(`,"file":`)
		e.json(file)
	}
	if f.Line > 0 {
		e.text(`,"line":` + strconv.Itoa(f.Line))
	}
	e.text("}")
}

// byThread returns the samples of each thread, those with the largest sum first. A profile
// without samples is one thread without samples.
func byThread(p *stacks.Profile) []stacks.Thread {
	threads := p.Threads()
	if len(threads) == 0 {
		return []stacks.Thread{{}}
	}
	sums := make(map[*stacks.Timed]int64, len(threads)) // by the first of each
	for _, t := range threads {
		for _, s := range t.Samples {
			sums[&t.Samples[0]] += s.Value
		}
	}
	order.Stable(threads, func(a, b stacks.Thread) int { return cmp.Compare(sums[&b.Samples[0]], sums[&a.Samples[0]]) })
	return threads
}

// profile writes the samples of one thread. Those that follow each other with the
// same stack are one.
func (e *encoder) profile(t stacks.Thread) {
	name := e.p.Kind
	if len(t.Samples) > 0 {
		name = "thread " + strconv.FormatInt(t.Thread, 10)
		if e.o.Thread != nil {
			name = e.o.Thread(t.Process, t.Thread)
		}
	}
	merged := t.Samples[:0]
	total := int64(0)
	for _, s := range t.Samples {
		total += s.Value
		if n := len(merged); n > 0 && merged[n-1].Stack == s.Stack {
			merged[n-1].Value += s.Value
		} else {
			merged = append(merged, s)
		}
	}
	e.text(`{"type":"sampled","name":`)
	e.json(name)
	e.text(`,"unit":"` + e.unit + `","startValue":0,"endValue":` + strconv.FormatInt(total, 10) + `,"samples":[`)
	for i, s := range merged {
		e.sample(i, s.Stack)
	}
	e.text(`],"weights":[`)
	for i, s := range merged {
		if i > 0 {
			e.text(",")
		}
		e.text(strconv.FormatInt(s.Value, 10))
	}
	e.text("]}")
}

// sample writes the numbers of the frames of a stack, the outermost first.
func (e *encoder) sample(i int, id stacks.ID) {
	e.stack = slices.AppendSeq(e.stack[:0], e.p.Stack(id))
	b := e.buf[:0]
	if i > 0 {
		b = append(b, ',')
	}
	b = append(b, '[')
	for i, frame := range slices.Backward(e.stack) {
		if i < len(e.stack)-1 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(frame), 10)
	}
	e.buf = append(b, ']')
	e.w.Write(e.buf)
}
