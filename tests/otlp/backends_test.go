package otlp

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
)

// profcheck returns the breaches in profiles of the rules of the protocol.
func profcheck(data *v1development.ProfilesData) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	d := data.Dictionary
	zero := func(table string, rows int, first proto.Message) {
		if rows == 0 || first != nil && proto.Size(first) != 0 {
			fail("the first of %s is not empty", table)
		}
	}
	if len(d.StringTable) == 0 || d.StringTable[0] != "" {
		fail("the first of string_table is not empty")
	}
	zero("mapping_table", len(d.MappingTable), d.MappingTable[0])
	zero("location_table", len(d.LocationTable), d.LocationTable[0])
	zero("function_table", len(d.FunctionTable), d.FunctionTable[0])
	zero("attribute_table", len(d.AttributeTable), d.AttributeTable[0])
	zero("stack_table", len(d.StackTable), d.StackTable[0])
	u := &uses{d: d, fail: fail, used: make(map[string]map[int32]bool)}
	twice(fail, "mapping_table", d.MappingTable)
	twice(fail, "location_table", d.LocationTable)
	twice(fail, "function_table", d.FunctionTable)
	twice(fail, "attribute_table", d.AttributeTable)
	twice(fail, "link_table", d.LinkTable)
	twice(fail, "stack_table", d.StackTable)
	if list := slices.Sorted(slices.Values(d.StringTable)); len(slices.Compact(list)) != len(d.StringTable) {
		fail("string_table has a text twice")
	}
	for i, l := range d.LinkTable {
		if len(l.TraceId) != 16 || len(l.SpanId) != 8 {
			fail("link %d has ids of %d and %d bytes", i, len(l.TraceId), len(l.SpanId))
		}
	}
	for _, r := range data.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			for _, p := range s.Profiles {
				u.profile(p)
			}
		}
	}
	u.tables()
	return wrong
}

// twice reports rows that are there twice.
func twice[M proto.Message](fail func(string, ...any), table string, rows []M) {
	seen := make(map[string]bool)
	for i, m := range rows {
		b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if seen[string(b)] {
			fail("row %d of %s is there before", i, table)
		}
		seen[string(b)] = true
	}
}

// uses follows the references to rows.
type uses struct {
	d    *v1development.ProfilesDictionary
	fail func(string, ...any)
	used map[string]map[int32]bool
}

// use notes that a row is referred to, and reports whether it is there.
func (u *uses) use(table string, rows int, list ...int32) {
	for _, i := range list {
		if i < 0 || int(i) >= rows {
			u.fail("%s has %d rows, and there is a reference to %d", table, rows, i)
		}
		if u.used[table] == nil {
			u.used[table] = map[int32]bool{0: true}
		}
		u.used[table][i] = true
	}
}

func (u *uses) text(list ...int32) { u.use("string_table", len(u.d.StringTable), list...) }
func (u *uses) attributes(list ...int32) {
	u.use("attribute_table", len(u.d.AttributeTable), list...)
}

func (u *uses) valueType(t *v1development.ValueType) {
	if t != nil {
		u.text(t.TypeStrindex, t.UnitStrindex)
	}
}

// profile checks a profile: its references, that its samples have one shape, and that they
// are different.
func (u *uses) profile(p *v1development.Profile) {
	u.valueType(p.SampleType)
	u.valueType(p.PeriodType)
	if len(p.Samples) == 0 || p.DurationNano == 0 || p.SampleType == nil {
		u.fail("a profile has %d samples of %v in %d ns", len(p.Samples), p.SampleType, p.DurationNano)
	}
	seen := make(map[string]bool)
	for _, s := range p.Samples {
		u.use("stack_table", len(u.d.StackTable), s.StackIndex)
		u.use("link_table", len(u.d.LinkTable), s.LinkIndex)
		u.attributes(s.AttributeIndices...)
		if (len(s.Values) == 1) != (len(p.Samples[0].Values) == 1) || len(s.Values) != 1 && len(s.TimestampsUnixNano) == 0 {
			u.fail("a sample has %d values and %d times, another %d and %d", len(s.Values), len(s.TimestampsUnixNano), len(p.Samples[0].Values), len(p.Samples[0].TimestampsUnixNano))
		}
		for _, at := range s.TimestampsUnixNano {
			if at < p.TimeUnixNano || at >= p.TimeUnixNano+p.DurationNano {
				u.fail("a sample is outside of its profile")
			}
		}
		key := fmt.Sprint(s.StackIndex, s.LinkIndex, slices.Sorted(slices.Values(s.AttributeIndices)))
		if seen[key] {
			u.fail("samples are of one stack, link and attributes")
		}
		seen[key] = true
	}
}

// tables follows the references of rows that something refers to, and reports the others.
func (u *uses) tables() {
	d := u.d
	for i, s := range d.StackTable {
		if u.used["stack_table"][int32(i)] {
			u.use("location_table", len(d.LocationTable), s.LocationIndices...)
		}
	}
	for i, l := range d.LocationTable {
		if i > 0 && u.used["location_table"][int32(i)] {
			u.use("mapping_table", len(d.MappingTable), l.MappingIndex)
			u.attributes(l.AttributeIndices...)
			for _, line := range l.Lines {
				u.use("function_table", len(d.FunctionTable), line.FunctionIndex)
			}
		}
	}
	for _, f := range d.FunctionTable {
		u.text(f.NameStrindex, f.SystemNameStrindex, f.FilenameStrindex)
	}
	for _, m := range d.MappingTable {
		u.text(m.FilenameStrindex)
		u.attributes(m.AttributeIndices...)
		if m.MemoryStart > m.MemoryLimit || m.MemoryStart == m.MemoryLimit && m.MemoryStart != 0 {
			u.fail("a mapping is from %#x to %#x", m.MemoryStart, m.MemoryLimit)
		}
	}
	for _, a := range d.AttributeTable {
		u.text(a.KeyStrindex, a.UnitStrindex)
	}
	for table, rows := range map[string]int{"mapping_table": len(d.MappingTable), "location_table": len(d.LocationTable), "function_table": len(d.FunctionTable),
		"attribute_table": len(d.AttributeTable), "stack_table": len(d.StackTable), "link_table": len(d.LinkTable), "string_table": len(d.StringTable)} {
		if n := rows - max(len(u.used[table]), 1); n != 0 {
			u.fail("%d rows of %s are not referred to", n, table)
		}
	}
}

// pyroscope returns the profiles that Pyroscope would have, by their full names, or why it
// refuses them.
func pyroscope(data *v1development.ProfilesData, now time.Time) (names []string, err error) {
	d := data.Dictionary
	if d == nil {
		return nil, errors.New("there is no dictionary")
	}
	for _, r := range data.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			for _, p := range s.Profiles {
				name, err := pyroscopeProfile(d, p, now)
				if err != nil {
					return names, err
				}
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

func pyroscopeProfile(d *v1development.ProfilesDictionary, p *v1development.Profile, now time.Time) (string, error) {
	if p.SampleType == nil {
		return "", errors.New("there is no sample type")
	}
	text := func(t *v1development.ValueType) (name, unit string) {
		if t == nil || p.Period == 0 && t == p.PeriodType {
			return "", ""
		}
		return d.StringTable[t.TypeStrindex], d.StringTable[t.UnitStrindex]
	}
	sample, unit := text(p.SampleType)
	period, periodUnit := text(p.PeriodType)
	name := period
	switch of := fmt.Sprintf("%s:%s:%s:%s", sample, unit, period, periodUnit); of {
	case "samples:count:cpu:nanoseconds":
		name, sample, unit = "process_cpu", "cpu", "nanoseconds"
	case "off_cpu:nanoseconds::":
		name = "off_cpu"
	}
	if name == "" {
		return "", errors.New("invalid metric name")
	}
	if at := time.Unix(0, int64(p.TimeUnixNano)); at.Before(now.Add(-time.Hour)) || at.After(now.Add(10*time.Minute)) {
		return "", errors.New("it is too old, or of the future")
	}
	for _, s := range p.Samples {
		if p.Period > 0 && len(s.Values) != 1 && len(s.TimestampsUnixNano) == 0 {
			return "", errors.New("sample values length mismatch")
		}
		if service(d, s) == "" {
			return "", errors.New("the service is unknown")
		}
	}
	return fmt.Sprintf("%s:%s:%s:%s:%s", name, sample, unit, period, periodUnit), nil
}

// service returns the name of the service that a sample says.
func service(d *v1development.ProfilesDictionary, s *v1development.Sample) string {
	for _, i := range s.AttributeIndices {
		if a := d.AttributeTable[i]; d.StringTable[a.KeyStrindex] == "service.name" {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// parca returns why Parca would refuse profiles.
func parca(data *v1development.ProfilesData) error {
	for _, r := range data.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			if s.Scope.GetName() == "" {
				return errors.New("the profiles have no name")
			}
			for _, p := range s.Profiles {
				for _, x := range p.Samples {
					if len(x.TimestampsUnixNano) > 0 && len(x.Values) > 0 && len(x.Values) != len(x.TimestampsUnixNano) {
						return errors.New("values and times are not as many")
					}
				}
			}
		}
	}
	return nil
}
