package profile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// isOTLP reports whether head begins with profiles of OpenTelemetry: a list of resources, or
// the dictionary. Both are messages of messages, which a profile of pprof does not begin with.
func isOTLP(head []byte) bool {
	if len(head) < 8 || head[0] != 1<<3|wireBytes && head[0] != 2<<3|wireBytes {
		return false
	}
	m := message{b: head[1:]}
	if n, err := m.number(); err != nil || n == 0 || len(m.b) < 4 {
		return false
	}
	inner := m.b[0]
	m.skip(1)
	n, err := m.number()
	switch {
	case err != nil || inner&7 != wireBytes || inner>>3 == 0:
		return false
	case head[0]>>3 == 1: // of a resource: itself, or its scopes
		return inner>>3 <= 3
	case n == 0: // of the dictionary: the first of each table is empty
		return inner>>3 <= 7
	}
	return inner>>3 == 7 && (m.b[0] == 1<<3|wireBytes || m.b[0] == 1<<3)
}

// An otlpReader reads the profiles of OpenTelemetry, as they are since version 1.10 of the
// protocol: tables that all profiles share, and profiles by resource and scope.
type otlpReader struct {
	protoReader
	attributes []otlpAttribute
	types      interner[ValueType]
	empty      int // samples without a value and a time
	list       []uint64
}

// An otlpAttribute is one of the table.
type otlpAttribute struct{ key, value string }

// An otlpSample is a sample before it is known which of all types it is of.
type otlpSample struct {
	stack, weights, times, attributes []uint64
}

// Numbers of the tables in the dictionary.
const (
	otlpMappings   = 1
	otlpLocations  = 2
	otlpFunctions  = 3
	otlpStrings    = 5
	otlpAttributes = 6
	otlpStacks     = 7
)

func readOTLP(p *Profile, data []byte) error {
	r := &otlpReader{protoReader: protoReader{Profile: p, threads: internTo(&p.Threads)}, types: internTo(&p.Types)}
	var resources []field
	tables := make(map[int][]field)
	err := r.fields("profiles", data, 0, func(f *field) error {
		switch f.number {
		case 1:
			resources = append(resources, *f)
		case 2:
			return r.fields("dictionary", f.b, f.at, func(f *field) error {
				if f.number == otlpStrings {
					r.strings = append(r.strings, string(f.b))
				} else {
					tables[f.number] = append(tables[f.number], *f)
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range []struct {
		number int
		take   func(f *field) error
	}{{otlpFunctions, r.function}, {otlpMappings, r.mapping}, {otlpLocations, r.location}, {otlpStacks, r.stack}, {otlpAttributes, r.attribute}} {
		for i := range tables[t.number] {
			if err := t.take(&tables[t.number][i]); err != nil {
				return err
			}
		}
	}
	var profiles []otlpProfile
	for i := range resources {
		if profiles, err = r.resourceProfiles(&resources[i], profiles); err != nil {
			return err
		}
	}
	// All types are known now, and so how many values a sample has.
	for i := range profiles {
		for k := range profiles[i].samples {
			if err := r.sample(&profiles[i], &profiles[i].samples[k]); err != nil {
				return err
			}
		}
	}
	if r.missing > 0 {
		p.warn("%d references to tables lead nowhere", r.missing)
	}
	if r.empty > 0 {
		p.warn("%d samples have neither a value nor a time, as those of versions before 1.10 of the protocol seem to, and weigh nothing", r.empty)
	}
	return nil
}

func (r *otlpReader) function(f *field) error {
	_, err := r.readFunction(f, 1)
	return err
}

func (r *otlpReader) mapping(f *field) error {
	path := ""
	err := r.fields("mapping", f.b, f.at, func(f *field) error {
		if f.number == 4 {
			path = r.text(f.v)
		}
		return nil
	})
	r.Modules = append(r.Modules, path)
	return err
}

// location adds the frames of a location. Its place in the table is that of the innermost.
func (r *otlpReader) location(f *field) error {
	_, innermost, err := r.readLocation(f, 1, func(i uint64) int32 {
		if i < uint64(len(r.Modules)) && r.Modules[i] != "" {
			return int32(i)
		}
		return -1
	}, func(i uint64) int32 {
		if i >= uint64(len(r.Functions)) {
			r.missing++
		} else if r.Functions[i].Name != "" {
			return int32(i)
		}
		return -1
	})
	r.list = append(r.list, uint64(innermost))
	return err
}

// stack adds a stack, under its number in the table.
func (r *otlpReader) stack(f *field) error {
	from := len(r.places)
	err := r.fields("stack", f.b, f.at, func(f *field) error {
		if f.number != 1 {
			return nil
		}
		list, err := r.numbers("stack", nil, f)
		for _, i := range list {
			if i >= uint64(len(r.list)) {
				r.missing++
				continue
			}
			r.places = append(r.places, int32(r.list[i]))
		}
		return err
	})
	r.addStack(-1, from)
	return err
}

func (r *otlpReader) attribute(f *field) error {
	a, err := r.keyValue(f, true)
	r.attributes = append(r.attributes, a)
	return err
}

// keyValue reads an attribute, of the table or of a resource.
func (r *otlpReader) keyValue(f *field, ofTable bool) (a otlpAttribute, err error) {
	err = r.fields("attribute", f.b, f.at, func(f *field) (err error) {
		switch {
		case f.number == 1 && ofTable, f.number == 3 && !ofTable:
			a.key = r.text(f.v)
		case f.number == 1:
			a.key = string(f.b)
		case f.number == 2:
			a.value, err = r.anyValue(f)
		}
		return err
	})
	return a, err
}

// anyValue returns a simple value as text, and "" for one that is made of others.
func (r *otlpReader) anyValue(f *field) (text string, err error) {
	err = r.fields("value", f.b, f.at, func(f *field) error {
		switch f.number {
		case 1:
			text = string(f.b)
		case 2:
			text = strconv.FormatBool(f.v != 0)
		case 3:
			text = strconv.FormatInt(int64(f.v), 10)
		case 4:
			text = strconv.FormatFloat(math.Float64frombits(f.v), 'g', -1, 64)
		case 8:
			text = r.text(f.v)
		}
		return nil
	})
	return text, err
}

// An otlpProfile is one of a scope, with samples of one type.
type otlpProfile struct {
	kind    ValueType
	start   int64
	each    int64  // nanoseconds that a sample stands for, 0 if it is no time
	thread  Thread // what the resource says
	samples []field
}

func (r *otlpReader) resourceProfiles(f *field, list []otlpProfile) ([]otlpProfile, error) {
	var thread Thread
	var scopes []field
	err := r.fields("resource profiles", f.b, f.at, func(f *field) error {
		switch f.number {
		case 1:
			return r.fields("resource", f.b, f.at, func(f *field) error {
				if f.number != 1 {
					return nil
				}
				a, err := r.keyValue(f, false)
				if !thread.take(a.key, a.value) && a.key == "service.name" && thread.ProcessName == "" {
					thread.ProcessName = a.value
				}
				return err
			})
		case 2:
			scopes = append(scopes, *f)
		}
		return nil
	})
	for i := 0; i < len(scopes) && err == nil; i++ {
		err = r.fields("scope profiles", scopes[i].b, scopes[i].at, func(f *field) error {
			if f.number != 2 {
				return nil
			}
			x, err := r.profile(f)
			x.thread = thread
			list = append(list, x)
			return err
		})
	}
	return list, err
}

func (r *otlpReader) profile(f *field) (x otlpProfile, err error) {
	period, periodType := int64(0), ValueType{}
	err = r.fields("profile", f.b, f.at, func(f *field) (err error) {
		switch f.number {
		case 1:
			x.kind, err = r.valueType(f)
		case 2:
			x.samples = append(x.samples, *f)
		case 3:
			x.start = max(int64(f.v), 0)
		case 4:
			r.Duration = max(r.Duration, int64(f.v))
		case 5:
			periodType, err = r.valueType(f)
		case 6:
			period = max(int64(f.v), 0)
		}
		return err
	})
	if len(x.samples) > 0 {
		r.types.of(x.kind)
		if periodType == processorTime && x.kind.Unit == "count" && period > 0 {
			x.each = period
			r.Default = int(r.types.of(processorTime))
		}
		if len(r.Types) > maxValueTypes {
			return x, r.wrong(f.at, "profile", "there are more than %d types of values", maxValueTypes)
		}
	}
	if period > 0 && r.Period == 0 {
		r.Period, r.PeriodType = period, periodType
	}
	if x.start > 0 && (r.Start == 0 || x.start < r.Start) {
		r.Start = x.start
	}
	return x, err
}

// sample adds a sample, or one for each of its times.
func (r *otlpReader) sample(x *otlpProfile, f *field) error {
	var s otlpSample
	err := r.fields("sample", f.b, f.at, func(f *field) (err error) {
		switch f.number {
		case 1:
			s.stack = append(s.stack, f.v)
		case 2:
			s.attributes, err = r.numbers("sample", s.attributes, f)
		case 4:
			s.weights, err = r.numbers("sample", s.weights, f)
		case 5:
			s.times, err = r.fixed(s.times, f)
		}
		return err
	})
	if err != nil {
		return err
	}
	one := Sample{At: x.start, Stack: -1, Thread: -1}
	if len(s.stack) > 0 && s.stack[0] < uint64(len(r.stacks)) {
		if k := int32(s.stack[0]); r.stacks[k].depth > 0 {
			one.Stack = k
		}
	} else if len(s.stack) > 0 {
		r.missing++
	}
	thread := x.thread
	for _, i := range s.attributes {
		if i >= uint64(len(r.attributes)) {
			r.missing++
			continue
		}
		if a := r.attributes[i]; !thread.take(a.key, a.value) {
			one.Labels = append(one.Labels, Label{a.key, a.value})
		}
	}
	if thread != (Thread{}) {
		one.Thread = r.threads.of(thread)
	}
	return r.weigh(one, x, &s, f.at)
}

// processorTime is the time that samples of processors, which profiles count, stand for.
var processorTime = ValueType{"cpu", "nanoseconds"}

// add adds a sample of a profile, and also the time that it stands for.
func (r *otlpReader) add(one Sample, x *otlpProfile, weight int64) {
	r.addOne(one, int(r.types.of(x.kind)), weight)
	if x.each > 0 && weight > 0 {
		at := len(r.values) - len(r.Types) + int(r.types.of(processorTime))
		r.values[at] = math.MaxInt64
		if weight <= math.MaxInt64/x.each {
			r.values[at] = weight * x.each
		}
	}
}

// weigh adds a sample with its values, or for each of its times.
func (r *otlpReader) weigh(one Sample, x *otlpProfile, s *otlpSample, offset int64) error {
	switch {
	case len(s.weights) > 1 && len(s.times) > 0 && len(s.weights) != len(s.times):
		return r.wrong(offset, "sample", "it has %d values and %d times", len(s.weights), len(s.times))
	case len(s.weights)+len(s.times) == 0:
		r.empty++
	case len(s.times) > 0 && len(s.weights) != 1:
		for i, at := range s.times {
			weight := int64(1)
			if len(s.weights) > 0 {
				weight = int64(s.weights[i])
			}
			one.At = max(int64(at), 0)
			r.add(one, x, weight)
		}
	default:
		for _, w := range s.weights {
			r.add(one, x, int64(w))
		}
	}
	return nil
}

// fixed appends the values of a repeated field of numbers of 8 bytes, packed or not.
func (r *otlpReader) fixed(into []uint64, f *field) ([]uint64, error) {
	if f.kind != wireBytes {
		return append(into, f.v), nil
	}
	if len(f.b)%8 != 0 {
		return into, r.wrong(f.at, "sample", "%w", fmt.Errorf("times of %d bytes", len(f.b)))
	}
	for b := f.b; len(b) > 0; b = b[8:] {
		into = append(into, binary.LittleEndian.Uint64(b))
	}
	return into, nil
}
