package otlp

import (
	"encoding/hex"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/export/internal/wire"
)

// Profiles are samples of call stacks as profiles of OpenTelemetry: each process is a
// resource, with a profile for each of its kinds of samples. AppendProto makes the bodies
// that collectors take at /v1development/profiles, and files that end with .otlp.
//
// The names of the profiles are those that backends know: wall is the time of threads,
// samples of cpu the time of processors, allocated_space of space, delay and contentions of
// contentions, off_cpu the waits of threads, and exceptions. The service.name of a process
// is also an attribute of each sample, since there are backends that see no other. Labels
// are attributes; trace_id and span_id, in hexadecimal, are links to spans.
type Profiles struct {
	// Resource returns the source of the samples of a process. Without it they have the
	// number of their process.
	Resource func(process int64) []Attribute
	// Thread returns the name of a thread, "" if it has none. It may be nil.
	Thread func(process, thread int64) string
	// BuildID returns the attribute that identifies a file of code, such as
	// process.executable.build_id.gnu, with an empty key if there is none. It may be nil.
	BuildID func(path string) Attribute
	// Span returns the span that a thread worked for at a time, in nanoseconds since 1970, and
	// its trace, in hexadecimal, or "". It may be nil.
	Span func(process, thread, at int64) (trace, span string)

	d         *dictionary
	processes map[int64]*processProfiles
	order     []*processProfiles
	count     int
}

// Numbers of fields, as version 1.10 of the protocol has them.
const (
	dataResources  = 1
	dataDictionary = 2

	resourceOf     = 1
	resourceScopes = 2
	scopeOf        = 1
	scopeProfiles  = 2
	scopeName      = 1

	profileSampleType = 1
	profileSamples    = 2
	profileTime       = 3
	profileDuration   = 4
	profilePeriodType = 5
	profilePeriod     = 6

	sampleStack      = 1
	sampleAttributes = 2
	sampleLink       = 3
	sampleValues     = 4
)

// processProfiles are those of one process.
type processProfiles struct {
	id       int64
	service  string
	resource []Attribute
	profiles [][]byte
}

// A sampleKey tells a sample from others of its profile.
type sampleKey struct{ stack, attributes, link int32 }

// An opened is a profile of one process that samples are added to.
type opened struct {
	values      map[sampleKey][]int64
	order       []sampleKey
	first, last int64
}

// Add adds the samples of a profile. Period is the time between two of them in nanoseconds,
// 0 if there is none.
func (p *Profiles) Add(of *stacks.Profile, period int64) {
	if p.d == nil {
		p.d, p.processes = newDictionary(), make(map[int64]*processProfiles)
	}
	w := &profileWriter{p: p, of: of, frames: make([]int32, len(of.Frames)), stacks: make(map[stacks.ID]int32)}
	list := facets(of, period)
	open := make(map[int64]*opened)
	var order []int64
	for s := range of.Samples() {
		x := open[s.Process]
		if x == nil {
			x = &opened{values: make(map[sampleKey][]int64), first: s.Time, last: s.Time}
			open[s.Process] = x
			order = append(order, s.Process)
		}
		x.first, x.last = min(x.first, s.Time), max(x.last, s.Time)
	}
	each := of.Merged()
	if p.Span != nil { // which depends on the time of each
		each = of.Samples()
	}
	for s := range each {
		x := open[s.Process]
		var key sampleKey
		for i := range list {
			v := list[i].of(s.Values)
			if v == 0 {
				continue
			}
			if key == (sampleKey{}) {
				key = w.key(p.process(s.Process), &s)
			}
			sums := x.values[key]
			if sums == nil {
				sums = make([]int64, len(list))
				x.values[key] = sums
				x.order = append(x.order, key)
			}
			sums[i] += v
		}
	}
	for _, id := range order {
		for i := range list {
			p.close(p.process(id), open[id], &list[i], i)
		}
	}
}

// process returns the profiles of a process.
func (p *Profiles) process(id int64) *processProfiles {
	x := p.processes[id]
	if x != nil {
		return x
	}
	x = &processProfiles{id: id}
	if p.Resource != nil {
		x.resource = p.Resource(id)
	} else if id >= 0 {
		x.resource = []Attribute{{"process.pid", id}}
	}
	for _, a := range x.resource {
		if a.Key == serviceName {
			x.service, _ = a.Value.(string)
		}
	}
	p.processes[id] = x
	p.order = append(p.order, x)
	return x
}

// close makes the message of a profile, unless it has no samples.
func (p *Profiles) close(of *processProfiles, x *opened, f *facet, value int) {
	var samples, m []byte
	for _, k := range x.order {
		v := x.values[k][value]
		if v == 0 {
			continue
		}
		m = wire.AppendInt(m[:0], sampleStack, int64(k.stack))
		m = wire.AppendPacked(m, sampleAttributes, p.d.lists[k.attributes]...)
		m = wire.AppendInt(m, sampleLink, int64(k.link))
		m = wire.AppendPacked(m, sampleValues, v)
		samples = wire.AppendBytes(samples, profileSamples, m)
		p.count++
	}
	if len(samples) == 0 {
		return
	}
	b := wire.AppendBytes(nil, profileSampleType, p.d.valueType(f.sample))
	b = append(b, samples...)
	b = wire.AppendFixed(b, profileTime, uint64(max(x.first, 0)))
	b = wire.AppendInt(b, profileDuration, max(x.last-x.first, 0)+1) // its end is no part of it
	if f.period.Name != "" {
		b = wire.AppendBytes(b, profilePeriodType, p.d.valueType(f.period))
		b = wire.AppendInt(b, profilePeriod, f.every)
	}
	of.profiles = append(of.profiles, b)
}

// Count returns how many samples there are, those that were equal being one.
func (p *Profiles) Count() int { return p.count }

// Reset begins anew.
func (p *Profiles) Reset() { p.d, p.processes, p.order, p.count = nil, nil, nil, 0 }

// AppendProto appends the message of all profiles: an ExportProfilesServiceRequest, which is
// also a ProfilesData.
func (p *Profiles) AppendProto(b []byte) []byte {
	if p.d == nil {
		return b
	}
	for _, x := range p.order {
		if len(x.profiles) == 0 {
			continue
		}
		scope := wire.AppendBytes(nil, scopeOf, wire.AppendBytes(nil, scopeName, "etwgen"))
		for _, profile := range x.profiles {
			scope = wire.AppendBytes(scope, scopeProfiles, profile)
		}
		var resource []byte
		for _, a := range x.resource {
			resource = wire.AppendBytes(resource, 1, keyValue(a))
		}
		m := wire.AppendBytes(nil, resourceOf, resource)
		b = wire.AppendBytes(b, dataResources, wire.AppendBytes(m, resourceScopes, scope))
	}
	return wire.AppendBytes(b, dataDictionary, p.d.append(nil))
}

// A profileWriter adds the entries that samples of one profile refer to, each once.
type profileWriter struct {
	p      *Profiles
	of     *stacks.Profile
	frames []int32 // their locations, 0 if they have none yet
	stacks map[stacks.ID]int32
}

// key returns the key that tells a sample from others.
func (w *profileWriter) key(of *processProfiles, s *stacks.Sample) sampleKey {
	d := w.p.d
	var list []int32
	if s.Thread >= 0 {
		list = append(list, d.attribute(Attribute{"thread.id", s.Thread}))
		if w.p.Thread != nil {
			if name := w.p.Thread(s.Process, s.Thread); name != "" {
				list = append(list, d.attribute(Attribute{"thread.name", name}))
			}
		}
	}
	if of.service != "" {
		list = append(list, d.attribute(Attribute{serviceName, of.service}))
	}
	var trace, span []byte
	for _, l := range s.Labels {
		switch {
		case l.Key == "trace_id" && hexOf(l.Value, 16) != nil:
			trace = hexOf(l.Value, 16)
		case l.Key == "span_id" && hexOf(l.Value, 8) != nil:
			span = hexOf(l.Value, 8)
		case l.Value != "":
			list = append(list, d.attribute(Attribute{keyOfLabel(w.of.Kind, l.Key), l.Value}))
		}
	}
	if w.p.Span != nil && trace == nil {
		of, in := w.p.Span(s.Process, s.Thread, s.Time)
		trace, span = hexOf(of, 16), hexOf(in, 8)
	}
	key := sampleKey{stack: w.stack(s.Stack), attributes: d.list(list)}
	if trace != nil && span != nil {
		key.link = d.link(trace, span)
	}
	return key
}

// hexOf returns so many bytes of hexadecimal digits, or nil if they are others.
func hexOf(text string, n int) []byte {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != n {
		return nil
	}
	return b
}

func (w *profileWriter) stack(id stacks.ID) int32 {
	if id == 0 {
		return 0
	}
	i, ok := w.stacks[id]
	if ok {
		return i
	}
	var list []int32
	for at := id; at != 0; {
		caller, frame := w.of.Split(at)
		if w.frames[frame] == 0 {
			w.frames[frame] = w.p.d.location(&w.of.Frames[frame], w.p.BuildID)
		}
		list = append(list, w.frames[frame])
		at = caller
	}
	i = w.p.d.stack(list)
	w.stacks[id] = i
	return i
}
