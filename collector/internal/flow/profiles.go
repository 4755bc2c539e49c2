package flow

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/export/otlp"
)

// ProfilesOf returns a profile in the collector's form: one of its profiles for each
// type of value. Period is the time between two samples, 0 if there is none.
func ProfilesOf(p *stacks.Profile, period int64, resource []otlp.Attribute) pprofile.Profiles {
	data := pprofile.NewProfiles()
	d := newDictionary(data.Dictionary(), p)
	of := data.ResourceProfiles().AppendEmpty()
	put(of.Resource().Attributes(), resource)
	scope := of.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("etwgen")
	first, last := p.Times()
	all := make([]pprofile.Profile, len(p.Types))
	scope.Profiles().EnsureCapacity(len(p.Types))
	for i, t := range p.Types {
		one := scope.Profiles().AppendEmpty()
		d.valueType(one.SampleType(), t)
		one.SetTime(pcommon.Timestamp(max(first, 0)))
		one.SetDurationNano(uint64(max(last-first, 0)))
		if period > 0 {
			d.valueType(one.PeriodType(), p.Types[len(p.Types)-1])
			one.SetPeriod(period)
		}
		all[i] = one
	}
	for s := range p.Merged() {
		stack, about := d.stack(s.Stack), d.about(s)
		for i, v := range s.Values {
			if v == 0 {
				continue
			}
			one := all[i].Samples().AppendEmpty()
			one.SetStackIndex(stack)
			one.Values().Append(v)
			one.AttributeIndices().Append(about...)
		}
	}
	return data
}

// A dictionary has what samples refer to by number. The first of each table stands
// for none.
type dictionary struct {
	pprofile.ProfilesDictionary
	p          *stacks.Profile
	texts      map[string]int32
	functions  map[[3]int32]int32
	modules    map[string]int32
	stacks     map[stacks.ID]int32
	attributes map[stacks.Label]int32
}

func newDictionary(out pprofile.ProfilesDictionary, p *stacks.Profile) *dictionary {
	d := &dictionary{ProfilesDictionary: out, p: p, texts: make(map[string]int32), functions: make(map[[3]int32]int32),
		modules: make(map[string]int32), stacks: make(map[stacks.ID]int32), attributes: make(map[stacks.Label]int32)}
	d.text("")
	out.FunctionTable().AppendEmpty()
	out.MappingTable().AppendEmpty()
	out.LinkTable().AppendEmpty()
	out.StackTable().AppendEmpty()
	out.AttributeTable().AppendEmpty()
	out.LocationTable().AppendEmpty()
	out.LocationTable().EnsureCapacity(len(p.Frames) + 1)
	for i := range p.Frames { // the location of a frame is its number, and 1
		d.location(&p.Frames[i])
	}
	return d
}

// text returns the number of a string.
func (d *dictionary) text(s string) int32 {
	i, ok := d.texts[s]
	if !ok {
		i = int32(d.StringTable().Len())
		d.StringTable().Append(valid(s))
		d.texts[s] = i
	}
	return i
}

func (d *dictionary) valueType(to pprofile.ValueType, t stacks.ValueType) {
	to.SetTypeStrindex(d.text(t.Name))
	to.SetUnitStrindex(d.text(t.Unit))
}

func (d *dictionary) location(f *stacks.Frame) {
	loc := d.LocationTable().AppendEmpty()
	loc.SetAddress(f.Address)
	loc.SetMappingIndex(d.module(f.Module))
	if kind := frameKind(f); kind != "" {
		loc.AttributeIndices().Append(d.attribute(stacks.Label{Key: "profile.frame.type", Value: kind}))
	}
	line := loc.Lines().AppendEmpty()
	line.SetFunctionIndex(d.function(f))
	line.SetLine(int64(f.Line))
}

// frameKind returns the type of a frame as the conventions call it, "" for what is none.
func frameKind(f *stacks.Frame) string {
	switch {
	case f.Pseudo:
		return ""
	case f.Kind == symbols.Unknown:
		return "native"
	}
	return "dotnet"
}

func (d *dictionary) function(f *stacks.Frame) int32 {
	key := [3]int32{d.text(f.Name), d.text(f.Full), d.text(f.File)}
	i, ok := d.functions[key]
	if !ok {
		i = int32(d.FunctionTable().Len())
		fn := d.FunctionTable().AppendEmpty()
		fn.SetNameStrindex(key[0])
		fn.SetSystemNameStrindex(key[1])
		fn.SetFilenameStrindex(key[2])
		d.functions[key] = i
	}
	return i
}

func (d *dictionary) module(name string) int32 {
	if name == "" {
		return 0
	}
	i, ok := d.modules[name]
	if !ok {
		i = int32(d.MappingTable().Len())
		d.MappingTable().AppendEmpty().SetFilenameStrindex(d.text(name))
		d.modules[name] = i
	}
	return i
}

func (d *dictionary) stack(id stacks.ID) int32 {
	if id == 0 {
		return 0
	}
	i, ok := d.stacks[id]
	if !ok {
		i = int32(d.StackTable().Len())
		list := d.StackTable().AppendEmpty().LocationIndices()
		for at := id; at != 0; {
			caller, frame := d.p.Split(at)
			list.Append(int32(frame) + 1)
			at = caller
		}
		d.stacks[id] = i
	}
	return i
}

func (d *dictionary) attribute(l stacks.Label) int32 {
	i, ok := d.attributes[l]
	if !ok {
		i = int32(d.AttributeTable().Len())
		a := d.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(d.text(l.Key))
		if n, err := strconv.ParseInt(l.Value, 10, 64); err == nil && l.Key == "thread.id" {
			a.Value().SetInt(n)
		} else {
			a.Value().SetStr(valid(l.Value))
		}
		d.attributes[l] = i
	}
	return i
}

// about returns the attributes of a sample: its labels, and its thread.
func (d *dictionary) about(s stacks.Sample) []int32 {
	list := []int32{d.attribute(stacks.Label{Key: "thread.id", Value: strconv.FormatInt(s.Thread, 10)})}
	for _, l := range s.Labels {
		list = append(list, d.attribute(l))
	}
	return list
}
