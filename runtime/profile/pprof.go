package profile

import (
	"bytes"
	"strconv"
)

// The numbers of fields, as profile.proto has them.
const (
	pprofSampleType  = 1
	pprofSample      = 2
	pprofMapping     = 3
	pprofLocation    = 4
	pprofFunction    = 5
	pprofString      = 6
	pprofDropFrames  = 7
	pprofTime        = 9
	pprofDuration    = 10
	pprofPeriodType  = 11
	pprofPeriod      = 12
	pprofComment     = 13
	pprofDefaultType = 14
	pprofLastField   = 15
)

// isPprof reports whether head begins with a message as profile.proto has it. The format has
// no mark, so this looks at the first field: in most files a type of values, which is two
// small numbers, and never a message of messages, as in the profiles of OpenTelemetry.
func isPprof(head []byte) bool {
	isControl := func(r rune) bool { return r < '\t' }
	if len(head) < 3 || !bytes.ContainsFunc(head, isControl) { // text
		return false
	}
	switch head[0] {
	case pprofSampleType<<3 | wireBytes, 11<<3 | wireBytes: // a type of values
		m := message{b: head[1:]}
		n, err := m.number()
		if err != nil || n == 0 || n > 2*11 || n > uint64(len(m.b)) {
			return false
		}
		for m.b = m.b[:n]; len(m.b) > 0; {
			if f, err := m.next(); err != nil || f.kind != wireVarint || f.number > 2 {
				return false
			}
		}
		return true
	case pprofString<<3 | wireBytes: // the first of which is empty
		return head[1] == 0 && head[2] != 0
	case pprofTime << 3, pprofDuration << 3, pprofPeriod << 3:
		m := message{b: head}
		f, err := m.next()
		return err == nil && f.v > 0 && len(m.b) > 0 && m.b[0]>>3 <= pprofLastField && m.b[0] > wireBytes
	}
	return false
}

// A pprofReader reads a profile of pprof. Names may stand behind their users, so there are
// two passes: all but the samples, and then these.
type pprofReader struct {
	protoReader
	functions   map[uint64]int32 // by their ids
	modules     map[uint64]int32
	locations   map[uint64]int32 // the innermost frame of each
	rest        []field          // locations
	defaultType string
	ids         []uint64
	weights     []uint64
}

func readPprof(p *Profile, data []byte) error {
	r := &pprofReader{protoReader: protoReader{Profile: p, threads: internTo(&p.Threads)},
		functions: make(map[uint64]int32), modules: make(map[uint64]int32), locations: make(map[uint64]int32)}
	err := r.fields("profile", data, 0, func(f *field) error {
		if f.number == pprofString {
			r.strings = append(r.strings, string(f.b))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.fields("profile", data, 0, r.head); err != nil {
		return err
	}
	for i := range r.rest {
		if err := r.location(&r.rest[i]); err != nil {
			return err
		}
	}
	p.Default = max(len(p.Types)-1, 0)
	for i, t := range p.Types {
		if t.Name == r.defaultType {
			p.Default = i
		}
	}
	err = r.fields("profile", data, 0, func(f *field) error {
		if f.number == pprofSample {
			return r.sample(f)
		}
		return nil
	})
	if r.missing > 0 {
		p.warn("%d references to strings, functions or locations lead nowhere", r.missing)
	}
	return err
}

// head takes all that is neither a string nor a sample. Locations wait until functions and
// mappings are known.
func (r *pprofReader) head(f *field) error {
	switch f.number {
	case pprofSampleType:
		return r.sampleType(f)
	case pprofMapping:
		return r.mapping(f)
	case pprofFunction:
		return r.function(f)
	case pprofLocation:
		r.rest = append(r.rest, *f)
	case pprofDropFrames:
		if drop := r.text(f.v); drop != "" {
			r.warn("the file asks to leave out frames that match %s, which are shown", drop)
		}
	case pprofTime:
		r.Start = max(int64(f.v), 0)
	case pprofDuration:
		r.Duration = max(int64(f.v), 0)
	case pprofPeriod:
		r.Period = max(int64(f.v), 0)
	case pprofPeriodType:
		t, err := r.valueType(f)
		r.PeriodType = t
		return err
	case pprofComment:
		list, err := r.numbers("comment", nil, f)
		for _, i := range list {
			r.Comments = append(r.Comments, r.text(i))
		}
		return err
	case pprofDefaultType:
		r.defaultType = r.text(f.v)
	}
	return nil
}

func (r *pprofReader) sampleType(f *field) error {
	t, err := r.valueType(f)
	r.Types = append(r.Types, t)
	if err == nil && len(r.Types) > maxValueTypes {
		err = r.wrong(f.at, "profile", "it has more than %d types of values", maxValueTypes)
	}
	return err
}

func (r *pprofReader) mapping(f *field) error {
	id, path := uint64(0), ""
	err := r.fields("mapping", f.b, f.at, func(f *field) error {
		switch f.number {
		case 1:
			id = f.v
		case 5:
			path = r.text(f.v)
		}
		return nil
	})
	if path != "" {
		r.modules[id] = int32(len(r.Modules))
		r.Modules = append(r.Modules, path)
	}
	return err
}

func (r *pprofReader) function(f *field) error {
	at := int32(len(r.Functions))
	id, err := r.readFunction(f, 2)
	r.functions[id] = at
	return err
}

// location adds the frames of a location, of which the first line is that of the innermost.
func (r *pprofReader) location(f *field) error {
	id, innermost, err := r.readLocation(f, 2, func(id uint64) int32 {
		if m, ok := r.modules[id]; ok {
			return m
		}
		return -1
	}, func(id uint64) int32 {
		fn, ok := r.functions[id]
		if ok {
			return fn
		}
		if id != 0 {
			r.missing++
		}
		return -1
	})
	if _, twice := r.locations[id]; twice && err == nil {
		return r.wrong(f.at, "location", "two have the number %d", id)
	}
	r.locations[id] = innermost
	return err
}

func (r *pprofReader) sample(f *field) error {
	r.ids, r.weights = r.ids[:0], r.weights[:0]
	s := Sample{At: r.Start, Stack: -1, Thread: -1}
	var t Thread
	err := r.fields("sample", f.b, f.at, func(f *field) (err error) {
		switch f.number {
		case 1:
			r.ids, err = r.numbers("sample", r.ids, f)
		case 2:
			r.weights, err = r.numbers("sample", r.weights, f)
		case 3:
			err = r.label(f, &s, &t)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(r.weights) != len(r.Types) {
		return r.wrong(f.at, "sample", "it has %d values, where %d types are declared", len(r.weights), len(r.Types))
	}
	from := len(r.places)
	for _, id := range r.ids {
		if frame, ok := r.locations[id]; ok {
			r.places = append(r.places, frame)
		} else {
			r.missing++
		}
	}
	if len(r.places) > from {
		s.Stack = r.addStack(-1, from)
	}
	if t != (Thread{}) {
		s.Thread = r.threads.of(t)
	}
	r.Samples = append(r.Samples, s)
	for _, w := range r.weights {
		r.values = append(r.values, int64(w))
	}
	return nil
}

// label adds a label to a sample. Some keys say of which thread it is.
func (r *pprofReader) label(f *field, s *Sample, t *Thread) error {
	var key, text string
	number := int64(0)
	err := r.fields("label", f.b, f.at, func(f *field) error {
		switch f.number {
		case 1:
			key = r.text(f.v)
		case 2:
			text = r.text(f.v)
		case 3:
			number = int64(f.v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if text == "" {
		text = strconv.FormatInt(number, 10)
	}
	if !t.take(key, text) {
		s.Labels = append(s.Labels, Label{key, text})
	}
	return nil
}

// take takes a fact of the thread that a sample is of, by the names that tools have for it,
// and reports whether it is one.
func (t *Thread) take(key, value string) bool {
	n, err := strconv.ParseInt(value, 10, 64)
	switch key {
	case "pid", "process_id", "process.pid":
		t.Process = n
	case "tid", "thread_id", "thread.id":
		t.ID = n
	case "process", "process.executable.name":
		t.ProcessName, err = value, nil
	case "thread", "thread_name", "thread.name":
		t.Name, err = value, nil
	default:
		return false
	}
	return err == nil && n >= 0
}
