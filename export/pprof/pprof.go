// Package pprof writes a profile in the format of pprof, which go tool pprof and many
// services for continuous profiling read. Use it where profiles of Go programs are looked
// at already.
//
// A profile comes from [stacks.NewProfile], of samples that an analysis of package stacks
// has collected, and of a table of names of package symbols; the example shows all of it.
//
// Functions are called by their type and name, without arguments; the whole name is their
// system name. Anything but code, such as the thread and the state of a sample, is a label:
// pprof -tagroot makes frames of them.
package pprof

import (
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/internal/wire"
)

// Options have the facts that a profile lacks.
type Options struct {
	// Period is the time between two samples in nanoseconds, as measured.
	Period int64
	// Process and Thread return names, "" if there are none. They may be nil.
	Process, Thread func(id int64) string
	Comments        []string
}

// The numbers of fields, as profile.proto has them.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileStringTable = 6
	profileTime        = 9
	profileDuration    = 10
	profilePeriodType  = 11
	profilePeriod      = 12
	profileComment     = 13

	valueTypeName = 1
	valueTypeUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey    = 1
	labelText   = 2
	labelNumber = 3

	mappingID           = 1
	mappingFile         = 5
	mappingHasFunctions = 7

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4
	lineFunction    = 1
	lineNumber      = 2

	functionID         = 1
	functionName       = 2
	functionSystemName = 3
	functionFile       = 4
)

// Write writes a profile. It keeps the sums of stacks, and writes them one by one:
// memory does not grow with the file.
func Write(w io.Writer, p *stacks.Profile, o Options) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	e := &encoder{w: z, p: p, o: o, strings: map[string]int64{"": 0}, table: []string{""}, mappings: make(map[string]int64), functions: make(map[function]int64), processes: make(map[string]bool)}
	e.header()
	e.samples()
	e.frames()
	for _, s := range e.table {
		e.out = wire.AppendBytes(e.out, profileStringTable, []byte(strings.ToValidUTF8(s, "\uFFFD")))
		e.flush(1 << 16)
	}
	e.flush(0)
	return z.Close()
}

// An encoder writes the parts of a profile, the table of strings last.
type encoder struct {
	w        io.Writer
	p        *stacks.Profile
	o        Options
	strings  map[string]int64
	table    []string
	mappings map[string]int64
	// functions has the numbers of functions: frames on several lines are of one.
	functions map[function]int64
	processes map[string]bool // names of those of the samples
	out       []byte
	message   []byte
	part      []byte
}

type function struct{ name, full, file string }

// text returns the number of a string.
func (e *encoder) text(s string) int64 {
	i, ok := e.strings[s]
	if !ok {
		i = int64(len(e.table))
		e.table = append(e.table, s)
		e.strings[s] = i
	}
	return i
}

// flush writes the buffer, if it is longer than limit.
func (e *encoder) flush(limit int) {
	if len(e.out) <= limit {
		return
	}
	e.w.Write(e.out) // an error stays in the writer, whose Close returns it
	e.out = e.out[:0]
}

func (e *encoder) valueType(t stacks.ValueType) []byte {
	return wire.AppendInt(wire.AppendInt(nil, valueTypeName, e.text(t.Name)), valueTypeUnit, e.text(t.Unit))
}

func (e *encoder) header() {
	for _, t := range e.p.Types {
		e.out = wire.AppendBytes(e.out, profileSampleType, e.valueType(t))
	}
	first, last := e.p.Times()
	e.out = wire.AppendInt(e.out, profileTime, max(first, 0))
	e.out = wire.AppendInt(e.out, profileDuration, max(last-first, 0))
	if e.o.Period > 0 && len(e.p.Types) > 0 {
		e.out = wire.AppendBytes(e.out, profilePeriodType, e.valueType(e.p.Types[len(e.p.Types)-1]))
		e.out = wire.AppendInt(e.out, profilePeriod, e.o.Period)
	}
	for _, c := range append([]string{e.p.Kind}, e.o.Comments...) {
		if i := e.text(c); i != 0 {
			e.out = binary.AppendUvarint(binary.AppendUvarint(e.out, profileComment<<3), uint64(i))
		}
	}
}

// samples writes the sums of samples with one stack and equal labels, in the order
// of their stacks.
func (e *encoder) samples() {
	for s := range e.p.Merged() {
		if !slices.ContainsFunc(s.Values, func(v int64) bool { return v != 0 }) {
			continue
		}
		m := e.message[:0]
		e.part = e.part[:0]
		for id := s.Stack; id != 0; {
			caller, frame := e.p.Split(id)
			e.part = binary.AppendUvarint(e.part, uint64(frame)+1)
			id = caller
		}
		m = wire.AppendBytes(m, sampleLocation, e.part)
		e.part = e.part[:0]
		for _, v := range s.Values {
			e.part = binary.AppendUvarint(e.part, uint64(v))
		}
		m = wire.AppendBytes(m, sampleValue, e.part)
		m = e.labels(m, s)
		e.message = m
		e.out = wire.AppendBytes(e.out, profileSample, m)
		e.flush(1 << 16)
	}
}

func (e *encoder) labels(m []byte, s stacks.Sample) []byte {
	for _, l := range s.Labels {
		m = e.textLabel(m, l.Key, l.Value)
	}
	for _, id := range []struct {
		key   string
		value int64
	}{{"pid", s.Process}, {"tid", s.Thread}} {
		if id.value >= 0 { // else it is not known
			m = e.label(m, labelNumber, id.key, id.value)
		}
	}
	if e.o.Process != nil {
		name := e.o.Process(s.Process)
		e.processes[name] = true
		m = e.textLabel(m, "process", name)
	}
	if e.o.Thread != nil {
		m = e.textLabel(m, "thread", e.o.Thread(s.Thread))
	}
	return m
}

// textLabel appends a label, unless it is empty.
func (e *encoder) textLabel(m []byte, key, value string) []byte {
	if value == "" {
		return m
	}
	return e.label(m, labelText, key, e.text(value))
}

// label appends a label, of which a field is the value.
func (e *encoder) label(m []byte, field int, key string, value int64) []byte {
	e.part = wire.AppendInt(e.part[:0], labelKey, e.text(key))
	e.part = wire.AppendInt(e.part, field, value)
	return wire.AppendBytes(m, sampleLabel, e.part)
}

// frames writes a location for each frame, with the number of the frame, and 1, a function
// for each method and a mapping for each module.
func (e *encoder) frames() {
	e.program()
	for i := range e.p.Frames {
		f := &e.p.Frames[i]
		line := wire.AppendInt(wire.AppendInt(e.part[:0], lineFunction, e.function(f)), lineNumber, int64(f.Line))
		m := wire.AppendInt(e.message[:0], locationID, int64(i)+1)
		m = wire.AppendInt(m, locationMapping, e.mapping(f.Module))
		m = wire.AppendInt(m, locationAddress, int64(f.Address))
		m = wire.AppendBytes(m, locationLine, line)
		e.out = wire.AppendBytes(e.out, profileLocation, m)
		e.part, e.message = line, m
		e.flush(1 << 16)
	}
}

// program writes the mapping of the module that is called as a process is: pprof calls the
// profile by the first.
func (e *encoder) program() {
	for i := range e.p.Frames {
		module := e.p.Frames[i].Module
		name := module[strings.LastIndexAny(module, `/\`)+1:]
		if name != "" && (e.processes[name] || e.processes[strings.TrimSuffix(strings.TrimSuffix(name, ".dll"), ".exe")]) {
			e.mapping(module)
			return
		}
	}
}

// function returns the number of the function of a frame.
func (e *encoder) function(f *stacks.Frame) int64 {
	k := function{f.Name, f.Full, f.File}
	k.file = cmp.Or(k.file, f.Module)
	id, ok := e.functions[k]
	if !ok {
		id = int64(len(e.functions)) + 1
		e.functions[k] = id
		m := wire.AppendInt(e.message[:0], functionID, id)
		m = wire.AppendInt(m, functionName, e.text(k.name))
		m = wire.AppendInt(m, functionSystemName, e.text(k.full))
		m = wire.AppendInt(m, functionFile, e.text(k.file))
		e.out, e.message = wire.AppendBytes(e.out, profileFunction, m), m
	}
	return id
}

// mapping returns the number of the mapping of a module, 0 for none.
func (e *encoder) mapping(module string) int64 {
	if module == "" {
		return 0
	}
	id, ok := e.mappings[module]
	if !ok {
		id = int64(len(e.mappings)) + 1
		e.mappings[module] = id
		m := wire.AppendInt(nil, mappingID, id)
		m = wire.AppendInt(m, mappingFile, e.text(module))
		m = wire.AppendInt(m, mappingHasFunctions, 1) // so that pprof looks for none itself
		e.out = wire.AppendBytes(e.out, profileMapping, m)
	}
	return id
}
