package profile

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// A Profile is the contents of a file.
type Profile struct {
	Format string // such as "pprof"
	// Name is the file's own name, "" if it has none.
	Name string
	// Types describe the values of a sample, and Default is the one that is looked at unless
	// another is asked for. Times are in nanoseconds and sizes in bytes, whatever the file
	// has them in.
	Types   []ValueType
	Default int
	// Start is when the recording began, in nanoseconds since 1970, and Duration how long it
	// took; 0 if the file does not tell.
	Start, Duration int64
	// Period is the distance between samples in units of PeriodType, 0 if the file does not
	// tell.
	Period     int64
	PeriodType ValueType
	Comments   []string
	// Warnings name the parts of the file that are not in the profile, or differ there.
	Warnings []string

	Functions []Function
	Modules   []string // paths of files with code
	Frames    []Frame
	Threads   []Thread
	Samples   []Sample

	values []int64 // of the samples, as many for each as there are Types
	stacks []stack
	places []int32 // innermost frames of the parts of stacks
	depths []int32 // of frames: with those that they are inlined in
}

// A ValueType describes a value of a sample.
type ValueType struct{ Name, Unit string }

// A Function is code with a name.
type Function struct {
	Name string
	// Full is the name with all that the file says, such as the module and arguments, or
	// the linker's name. It is "" if it is no other.
	Full string
	File string // of source
}

// A Frame is a place in code.
type Frame struct {
	Address  uint64
	Function int32 // of Functions, or -1
	Module   int32 // of Modules, or -1
	Line     int32 // 0 if it is not known
	Within   int32 // the frame that it is inlined in, or -1
}

// A Thread is the source of samples. A number is 0, and a name "", where the file has none.
type Thread struct {
	Process, ID       int64
	ProcessName, Name string
}

// A Label is a fact of a sample.
type Label struct{ Key, Value string }

// A Sample is a stack with its weights: see [Profile.Values].
type Sample struct {
	At     int64 // in nanoseconds since 1970, 0 if the file does not tell
	Stack  int32 // see [Profile.AppendStack]; -1 if there is none
	Thread int32 // of Threads, or -1
	Labels []Label
}

// A stack is places behind those of another stack, its caller.
type stack struct {
	caller   int32 // or -1
	from, to int32 // of places, the innermost first
	depth    int32
}

// Limits of reading a file. A stack is deeper only where something is wrong; and all stacks
// together have no more frames than a file of such a size has use for.
const (
	maxDepth       = 1 << 16
	framesPerByte  = 64
	framesAnyway   = 1 << 20
	maxFrames      = 1 << 29
	maxSize        = 1 << 30
	maxValueTypes  = 64
	secondsToNanos = 1e9
)

// Values returns the values of the sample with a number, as Types say.
func (p *Profile) Values(sample int) []int64 {
	n := len(p.Types)
	return p.values[sample*n : (sample+1)*n : (sample+1)*n]
}

// AppendStack appends the frames of a stack to a list, the innermost first.
func (p *Profile) AppendStack(frames []int32, stack int32) []int32 {
	for ; stack >= 0; stack = p.stacks[stack].caller {
		s := &p.stacks[stack]
		for _, f := range p.places[s.from:s.to] {
			for ; f >= 0; f = p.Frames[f].Within {
				frames = append(frames, f)
			}
		}
	}
	return frames
}

// Stacks returns the number of stacks. Several can have the same frames.
func (p *Profile) Stacks() int { return len(p.stacks) }

// addFrame adds a frame. The frame that it is inlined in must be there already.
func (p *Profile) addFrame(f Frame) int32 {
	depth := int32(1)
	if f.Within >= 0 {
		depth += p.depths[f.Within]
	}
	p.Frames, p.depths = append(p.Frames, f), append(p.depths, depth)
	return int32(len(p.Frames) - 1)
}

// addStack adds the stack of the frames appended to places from a place on.
func (p *Profile) addStack(caller int32, from int) int32 {
	depth := int64(0)
	if caller >= 0 {
		depth = int64(p.stacks[caller].depth)
	}
	for _, f := range p.places[from:] {
		depth += int64(p.depths[f])
	}
	p.stacks = append(p.stacks, stack{caller, int32(from), int32(len(p.places)), int32(min(depth, math.MaxInt32))})
	return int32(len(p.stacks) - 1)
}

// addSample adds a sample with its values.
func (p *Profile) addSample(s Sample, values ...int64) {
	p.Samples, p.values = append(p.Samples, s), append(p.values, values...)
}

// addOne adds a sample that weighs something of one type alone.
func (p *Profile) addOne(s Sample, of int, value int64) {
	p.Samples = append(p.Samples, s)
	p.values = append(p.values, make([]int64, len(p.Types))...)
	p.values[len(p.values)-len(p.Types)+of] = value
}

// finish checks the profile of a file of a size: whether it stays within bounds, and whether
// weights can be added up. It makes one unit of several for the same.
func (p *Profile) finish(size int) error {
	if len(p.Types) == 0 {
		return errors.New("no type of values is declared")
	}
	limit := min(int64(size)*framesPerByte+framesAnyway, maxFrames)
	counted, frames := make([]bool, len(p.stacks)), int64(0)
	for i := range p.Samples {
		s := p.Samples[i].Stack
		if s < 0 || counted[s] {
			continue
		}
		counted[s] = true
		depth := p.stacks[s].depth
		if depth > maxDepth {
			return fmt.Errorf("sample %d: its stack has %d frames, more than %d", i, depth, maxDepth)
		}
		if frames += int64(depth); frames > limit {
			return fmt.Errorf("sample %d: stacks have more than %d frames, which is out of proportion to the file", i, limit)
		}
	}
	for i, v := range p.values {
		if v < 0 {
			return fmt.Errorf("sample %d weighs %d: a profile of differences is not supported; give both sides to etw top --diff", i/len(p.Types), v)
		}
	}
	p.scale()
	return nil
}

// scale makes nanoseconds of times, and bytes of sizes.
func (p *Profile) scale() {
	cut := 0
	for t := range p.Types {
		unit, factor := unitOf(p.Types[t].Unit)
		p.Types[t].Unit = unit
		if factor == 1 {
			continue
		}
		for i := t; i < len(p.values); i += len(p.Types) {
			if p.values[i] > math.MaxInt64/factor {
				p.values[i] = math.MaxInt64 / factor
				cut++
			}
			p.values[i] *= factor
		}
	}
	if cut > 0 {
		p.warn("%d values are 2^63 and more in our unit, and are cut", cut)
	}
	if unit, factor := unitOf(p.PeriodType.Unit); p.Period <= math.MaxInt64/factor {
		p.PeriodType.Unit, p.Period = unit, p.Period*factor
	}
}

//go:noinline
func (p *Profile) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// unitOf returns the unit that is used for one, and how many of it that is.
func unitOf(name string) (unit string, factor int64) {
	switch strings.ToLower(name) {
	case "nanoseconds", "nanosecond", "ns", "nanos":
		return "nanoseconds", 1
	case "microseconds", "microsecond", "us", "µs":
		return "nanoseconds", 1e3
	case "milliseconds", "millisecond", "ms", "tracing-ms":
		return "nanoseconds", 1e6
	case "seconds", "second", "s", "sec":
		return "nanoseconds", 1e9
	case "bytes", "byte", "b":
		return "bytes", 1
	case "kilobytes", "kilobyte", "kb", "kib":
		return "bytes", 1 << 10
	case "megabytes", "megabyte", "mb", "mib":
		return "bytes", 1 << 20
	}
	return name, 1
}

// A rounder makes whole numbers of weights, such that their sum is right.
type rounder struct{ rest float64 }

// next returns a weight as a whole number. The remainder goes to the next one.
func (r *rounder) next(v float64) int64 {
	switch {
	case v != v:
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	whole, part := math.Modf(v)
	r.rest += part
	if more := math.Round(r.rest); more != 0 {
		whole, r.rest = whole+more, r.rest-more
	}
	if whole >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(whole)
}

// An interner numbers values, each once.
type interner[T comparable] struct {
	ids  map[T]int32
	into *[]T
}

func internTo[T comparable](into *[]T) interner[T] {
	return interner[T]{make(map[T]int32), into}
}

func (n interner[T]) of(v T) int32 {
	i, ok := n.ids[v]
	if !ok {
		i = int32(len(*n.into))
		n.ids[v], *n.into = i, append(*n.into, v)
	}
	return i
}

// lineNumber returns the number of a line, or 0 if it is not one.
func lineNumber(n int64) int32 {
	if n < 0 || n > 1<<31-1 {
		return 0
	}
	return int32(n)
}
