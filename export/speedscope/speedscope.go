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

// Schema is what the files say that they follow.
const Schema = "https://www.speedscope.app/file-format-schema.json"

// Options say what a profile does not know.
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
	for i, list := range byThread(p) {
		if i > 0 {
			e.text(",\n")
		}
		e.profile(list)
	}
	e.text("]}\n")
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

type encoder struct {
	w     *bufio.Writer
	p     *stacks.Profile
	o     Options
	unit  string
	buf   []byte
	stack []int
	err   error
}

func (e *encoder) text(s string) {
	if e.err == nil {
		_, e.err = e.w.WriteString(s)
	}
}

func (e *encoder) json(s string) {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		e.err = err
		return
	}
	e.text(string(b))
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

// byThread returns the samples of each thread in the order of time, those with the
// largest sum first. A profile without samples is one thread without samples.
func byThread(p *stacks.Profile) [][]stacks.Sample {
	type key struct{ process, thread int64 }
	index := make(map[key]int)
	var threads [][]stacks.Sample
	var sums []int64
	for s := range p.Samples() {
		k := key{s.Process, s.Thread}
		i, ok := index[k]
		if !ok {
			i = len(threads)
			index[k] = i
			threads, sums = append(threads, nil), append(sums, 0)
		}
		s.Labels, s.Values = nil, slices.Clone(s.Values[len(s.Values)-1:])
		threads[i] = append(threads[i], s)
		sums[i] += s.Values[0]
	}
	heaviest := make([]int, len(threads))
	for i := range heaviest {
		heaviest[i] = i
		order.Stable(threads[i], func(a, b stacks.Sample) int { return cmp.Compare(a.Time, b.Time) })
	}
	order.Stable(heaviest, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	sorted := [][]stacks.Sample{}
	for _, i := range heaviest {
		sorted = append(sorted, threads[i])
	}
	if len(sorted) == 0 {
		sorted = append(sorted, nil)
	}
	return sorted
}

// profile writes the samples of one thread. Those that follow each other with the
// same stack are one.
func (e *encoder) profile(list []stacks.Sample) {
	name := e.p.Kind
	if len(list) > 0 {
		name = "thread " + strconv.FormatInt(list[0].Thread, 10)
		if e.o.Thread != nil {
			name = e.o.Thread(list[0].Process, list[0].Thread)
		}
	}
	merged := list[:0]
	total := int64(0)
	for _, s := range list {
		total += s.Values[0]
		if n := len(merged); n > 0 && merged[n-1].Stack == s.Stack {
			merged[n-1].Values[0] += s.Values[0]
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
		e.text(strconv.FormatInt(s.Values[0], 10))
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
	if e.err == nil {
		_, e.err = e.w.Write(e.buf)
	}
}
