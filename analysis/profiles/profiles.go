// Package profiles makes a [stacks.Profile] of the profiles of other tools, which package
// profile of runtime reads: rankings, trees, grouping, differences and exports are then the
// same as those of a trace. Use it to hold a profile of pprof against a trace of .NET.
package profiles

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/runtime/profile"
)

// Options say how frames are shown.
type Options struct {
	Names stacks.Names
	Raw   bool // see [stacks.Options]
	Lines bool // frames of different lines are kept apart
}

// Find returns the number of the type of values that is called so, or of the one that is
// looked at unless another is asked for, of "". The error names all.
func Find(p *profile.Profile, name string) (int, error) {
	if name == "" {
		return p.Default, nil
	}
	var known []string
	for i, t := range p.Types {
		if t.Name == name {
			return i, nil
		}
		known = append(known, t.Name)
	}
	return 0, fmt.Errorf("the profile has no values of that name; there are %s", strings.Join(known, ", "))
}

// New returns the profile of one type of values, as [Find] numbers them. If the file counts
// their units, as with the objects that were allocated and their bytes, the count is the
// first value.
func New(p *profile.Profile, value int, o Options) (*stacks.Profile, *Names) {
	types := []int{value}
	if value > 0 && p.Types[value].Unit != "count" && p.Types[value-1].Unit == "count" {
		types = []int{value - 1, value}
	}
	var of []stacks.ValueType
	for _, t := range types {
		of = append(of, stacks.ValueType(p.Types[t]))
	}
	n := &naming{p: p, o: o, ids: make(map[stacks.Frame]int32), names: newNames()}
	for i := range p.Frames {
		n.numbers = append(n.numbers, n.number(&p.Frames[i]))
	}
	samples := stacks.NewSamples(p.Types[value].Name, of...)
	n.add(samples, types)
	made := stacks.NewProfile(nil, stacks.Options{Native: n.native}, samples)
	for i := range made.Frames {
		// Frames have come through the profile by their numbers.
		if id, err := strconv.Atoi(made.Frames[i].Full); err == nil {
			made.Frames[i] = n.frames[id]
		}
	}
	return made, n.names
}

// Names are those of processes and threads. A number below 0 stands for one of which the file
// has no number: -1 if it tells nothing of it.
type Names struct{ Processes, Threads map[int64]string }

// Unknown is the process or thread of samples that name none.
const Unknown = "(unknown)"

func newNames() *Names {
	return &Names{map[int64]string{-1: Unknown}, map[int64]string{-1: Unknown}}
}

// number returns the number of a thing that may have a number or a name in the file.
func number(names map[int64]string, id int64, name string, place int32) int64 {
	switch {
	case id == 0 && name == "":
		return -1
	case id == 0:
		id = -2 - int64(place)
	}
	if name != "" {
		names[id] = name
	}
	return id
}

// A naming knows the frames of a profile as they are shown. Those that look the same are
// one.
type naming struct {
	p       *profile.Profile
	o       Options
	numbers []int32 // of the frames that are shown, by the frame of the profile
	frames  []stacks.Frame
	ids     map[stacks.Frame]int32
	names   *Names
}

// Stacks are of addresses, and callers are looked up at the byte before, so a frame that is
// shown has two of them.
func addressOf(number int32) uint64 { return 2 * (uint64(number) + 1) }

func (n *naming) native(_ int64, address uint64, _ time.Time) (symbols.Native, bool) {
	id := int((address+1)/2 - 1)
	if id < 0 || id >= len(n.frames) {
		return symbols.Native{}, false
	}
	return symbols.Native{Function: strconv.Itoa(id), Unnamed: n.frames[id].Nameless}, true
}

// number returns the number of the text shown for a frame.
func (n *naming) number(f *profile.Frame) int32 {
	shown := n.frame(f)
	i, ok := n.ids[shown]
	if !ok {
		i = int32(len(n.frames))
		n.ids[shown], n.frames = i, append(n.frames, shown)
	}
	return i
}

func (n *naming) frame(f *profile.Frame) stacks.Frame {
	module := ""
	if f.Module >= 0 {
		module = n.p.Modules[f.Module]
	}
	if f.Function < 0 {
		if module != "" { // of which no functions are known
			name := baseOf(module) + "!?"
			return stacks.Frame{Name: name, Full: name, Module: module, Kind: symbols.NativeCode, Nameless: true}
		}
		name := "0x" + strconv.FormatUint(f.Address, 16)
		return stacks.Frame{Name: name, Full: name, Address: f.Address, Nameless: true}
	}
	fn := &n.p.Functions[f.Function]
	shown := n.function(fn, module)
	if n.o.Lines && f.Line > 0 && fn.File != "" {
		shown.File, shown.Line = fn.File, int(f.Line)
	}
	return shown
}

// function returns the frame of a function without lines.
func (n *naming) function(fn *profile.Function, module string) stacks.Frame {
	full := cmp.Or(fn.Full, fn.Name)
	if m, ok := managed(full, module); ok {
		f := stacks.Frame{Kind: symbols.Managed, Full: m.Full(), Module: cmp.Or(module, m.Module.ILPath)}
		if f.Name = fn.Name; fn.Full == "" || n.o.Names != stacks.QualifiedNames {
			f.Name = n.method(m)
		}
		return f
	}
	if strings.HasPrefix(full, "[") && strings.HasSuffix(full, "]") && module == "" {
		return stacks.Frame{Name: full, Full: full, Pseudo: true, Waiting: full == stacks.WaitingName}
	}
	f := stacks.Frame{Name: fn.Name, Full: full, Module: module, Kind: symbols.NativeCode}
	if module != "" && !strings.Contains(full, "!") {
		f.Full = baseOf(module) + "!" + full
	}
	if n.o.Names == stacks.FullNames {
		f.Name = f.Full
	}
	return f
}

// method returns the name of a method as it is asked for.
func (n *naming) method(m symbols.Method) string {
	if !n.o.Raw {
		m = m.Demangled()
	}
	switch n.o.Names {
	case stacks.QualifiedNames:
		return m.Qualified()
	case stacks.ShortNames:
		return m.Short()
	}
	return m.Full()
}

// managed returns the method of .NET that a name is of, as in Shop!Bakery.Oven.Bake(int32):
// our own files and those of dotnet-trace have it so. In the maps of perf the runtime has it
// as in void [Shop] Bakery.Oven::Bake(int32)[Optimized].
func managed(name, module string) (m symbols.Method, ok bool) {
	if base := baseOf(module); strings.HasPrefix(base, "perf-") || strings.HasPrefix(base, "jitted-") {
		n := symbols.Jitted(name, 0)
		return n.Method(), n.Type != ""
	}
	module, function, ok := strings.Cut(name, "!")
	open := strings.IndexByte(function, '(')
	if !ok || module == "" || open < 0 || !strings.HasSuffix(function, ")") {
		return m, false
	}
	dot := strings.LastIndexByte(function[:open], '.')
	if dot > 0 && function[dot-1] == '.' { // of a constructor: Oven..ctor
		dot--
	}
	if dot <= 0 {
		return m, false
	}
	native := symbols.Native{Module: module, Function: function, Type: function[:dot]}
	return native.Method(), true
}

// add adds the samples with some of their values.
func (n *naming) add(into *stacks.Samples, types []int) {
	p := n.p
	known := make([]stacks.ID, p.Stacks())
	for i := range known {
		known[i] = -1
	}
	values := make([]int64, len(types))
	var frames []int32
	var addresses []uint64
	for i := range p.Samples {
		s := &p.Samples[i]
		weighs := false
		for k, t := range types {
			values[k] = p.Values(i)[t]
			weighs = weighs || values[k] != 0
		}
		if !weighs {
			continue
		}
		pid, tid := int64(-1), int64(-1)
		if s.Thread >= 0 {
			t := &p.Threads[s.Thread]
			pid, tid = number(n.names.Processes, t.Process, t.ProcessName, s.Thread), number(n.names.Threads, t.ID, t.Name, s.Thread)
		}
		stack := stacks.ID(0)
		if s.Stack >= 0 {
			if known[s.Stack] < 0 {
				frames, addresses = p.AppendStack(frames[:0], s.Stack), addresses[:0]
				for _, f := range frames {
					addresses = append(addresses, addressOf(n.numbers[f]))
				}
				// All stacks are of one process, so that those that are equal are one.
				known[s.Stack] = into.InternAddresses(0, addresses)
			}
			stack = known[s.Stack]
		}
		labels := stacks.LabelSet(0)
		for _, l := range s.Labels {
			labels = into.Label(labels, l.Key, l.Value)
		}
		into.AddStack(time.Unix(0, s.At), pid, tid, stack, labels, values...)
	}
}

// baseOf returns the last part of a path of any system.
func baseOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
