package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A firefoxMeta is the head of a profile of the Firefox Profiler, as it saves them.
type firefoxMeta struct {
	Product   string  `json:"product"`
	StartTime float64 `json:"startTime"` // in ms since 1970
	Interval  float64 `json:"interval"`  // in ms
	Version   float64 `json:"preprocessedProfileVersion"`
}

// A firefoxTables has the parts of stacks, by columns. Since version 58 or so they are
// shared by all threads; before, each has its own.
type firefoxTables struct {
	StringArray []string `json:"stringArray"`
	StringTable []string `json:"stringTable"`
	StackTable  struct {
		Frame        []int32    `json:"frame"`
		Prefix       []*float64 `json:"prefix"`
		PrefixOffset []float64  `json:"prefixOffset"`
	} `json:"stackTable"`
	FrameTable struct {
		Func []int32    `json:"func"`
		Line []*float64 `json:"line"`
	} `json:"frameTable"`
	FuncTable struct {
		Name     []int32    `json:"name"`
		Resource []float64  `json:"resource"`
		FileName []*float64 `json:"fileName"`
		Source   []*float64 `json:"source"`
	} `json:"funcTable"`
	ResourceTable struct {
		Name []int32 `json:"name"`
	} `json:"resourceTable"`
	Sources struct {
		Filename []int32 `json:"filename"`
	} `json:"sources"`
}

// A firefoxThread is a thread with its samples.
type firefoxThread struct {
	firefoxTables
	Name        string          `json:"name"`
	ProcessName string          `json:"processName"`
	PID         json.RawMessage `json:"pid"` // a number or a text
	TID         json.RawMessage `json:"tid"`
	Samples     struct {
		Stack      []*float64 `json:"stack"`
		Time       []float64  `json:"time"`
		TimeDeltas []float64  `json:"timeDeltas"`
		Weight     []*float64 `json:"weight"`
		WeightType string     `json:"weightType"`
	} `json:"samples"`
}

// A firefoxReader reads such a profile.
type firefoxReader struct {
	*Profile
	meta  firefoxMeta
	types interner[ValueType]
}

// firefoxStacks are the stacks of tables, as numbers of the profile.
type firefoxStacks []int32

func readFirefox(p *Profile, d *document) error {
	p.Format = "Firefox Profiler"
	r := &firefoxReader{Profile: p}
	if err := p.decode("meta", d.Meta, &r.meta); err != nil {
		return err
	}
	if r.meta.Version == 0 {
		return &formatError{"it is a profile of Firefox that is not processed: save it from https://profiler.firefox.com"}
	}
	p.Format = fmt.Sprintf("Firefox Profiler %v", r.meta.Version)
	p.Name = r.meta.Product
	if r.meta.StartTime > 0 && r.meta.StartTime < 1e13 {
		p.Start = int64(math.Round(r.meta.StartTime * 1e6))
	}
	if r.meta.Interval > 0 && r.meta.Interval < 1e9 {
		p.Period, p.PeriodType = int64(math.Round(r.meta.Interval*1e6)), ValueType{"time", "nanoseconds"}
	}
	var shared firefoxStacks
	if len(d.Shared) > 0 && string(d.Shared) != "null" {
		var t firefoxTables
		err := p.decode("shared", d.Shared, &t)
		if err == nil {
			shared, err = r.tables("shared", &t)
		}
		if err != nil {
			return err
		}
	}
	// Each sample counts as one; those that weigh something else have that, too.
	p.Types = []ValueType{{"samples", "count"}}
	r.types = internTo(&p.Types)
	r.types.ids[p.Types[0]] = 0
	var threads []json.RawMessage
	err := elements(p, "threads", d.Threads, func(_ int, x *json.RawMessage) error {
		threads = append(threads, *x)
		var t struct {
			Samples struct {
				Weight     json.RawMessage `json:"weight"`
				WeightType string          `json:"weightType"`
			} `json:"samples"`
		}
		if err := json.Unmarshal(*x, &t); err == nil && len(t.Samples.Weight) > 0 && string(t.Samples.Weight) != "null" {
			if len(p.Types) > maxValueTypes {
				return errors.New("there are too many types of weights")
			}
			r.types.of(firefoxType(t.Samples.WeightType))
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.Default = len(p.Types) - 1
	for i, x := range threads {
		if err := r.thread(fmt.Sprintf("threads[%d]", i), x, shared); err != nil {
			return err
		}
	}
	return nil
}

// firefoxType describes a kind of weights. Times are scaled when they are read.
func firefoxType(kind string) ValueType {
	switch kind {
	case "tracing-ms":
		return ValueType{"time", "nanoseconds"}
	case "bytes":
		return ValueType{"space", "bytes"}
	case "", "samples":
		return ValueType{"samples", "count"}
	}
	return ValueType{kind, ""}
}

// tables adds the stacks of tables.
func (r *firefoxReader) tables(path string, t *firefoxTables) (firefoxStacks, error) {
	texts := t.StringArray
	if texts == nil {
		texts = t.StringTable
	}
	text := func(i int32) string {
		if i < 0 || int(i) >= len(texts) {
			return ""
		}
		return texts[i]
	}
	modules := make(map[int32]int32)
	frames := make([]int32, len(t.FrameTable.Func))
	functions := internTo(&r.Functions)
	for i, fn := range t.FrameTable.Func {
		if fn < 0 || int(fn) >= len(t.FuncTable.Name) {
			return nil, fmt.Errorf("%s.frameTable.func[%d]: function %d is not one of the %d", path, i, fn, len(t.FuncTable.Name))
		}
		f := Frame{Module: -1, Within: -1, Line: lineNumber(int64(at(t.FrameTable.Line, i)))}
		shown := Function{Name: cmp.Or(text(t.FuncTable.Name[fn]), "?")}
		if source := at(t.FuncTable.Source, int(fn)); source >= 0 && int(source) < len(t.Sources.Filename) {
			shown.File = text(t.Sources.Filename[int(source)])
		} else if file := at(t.FuncTable.FileName, int(fn)); file >= 0 {
			shown.File = text(int32(file))
		}
		if int(fn) < len(t.FuncTable.Resource) {
			if res := t.FuncTable.Resource[fn]; res >= 0 && int(res) < len(t.ResourceTable.Name) {
				name := t.ResourceTable.Name[int(res)]
				if _, ok := modules[name]; !ok {
					modules[name] = int32(len(r.Modules))
					r.Modules = append(r.Modules, text(name))
				}
				f.Module = modules[name]
			}
		}
		f.Function = functions.of(shown)
		frames[i] = r.addFrame(f)
	}
	return r.stackTable(path, t, frames)
}

// stackTable adds the stacks of frames.
func (r *firefoxReader) stackTable(path string, t *firefoxTables, frames []int32) (firefoxStacks, error) {
	stacks := make(firefoxStacks, len(t.StackTable.Frame))
	for i, frame := range t.StackTable.Frame {
		if frame < 0 || int(frame) >= len(frames) {
			return nil, fmt.Errorf("%s.stackTable.frame[%d]: frame %d is not one of the %d", path, i, frame, len(frames))
		}
		caller := int32(-1)
		prefix := at(t.StackTable.Prefix, i)
		if i < len(t.StackTable.PrefixOffset) && t.StackTable.PrefixOffset[i] != 0 {
			prefix = float64(i) - t.StackTable.PrefixOffset[i]
		}
		if prefix >= float64(i) || prefix < -1 {
			return nil, fmt.Errorf("%s.stackTable[%d]: its caller is %v, and must come before it", path, i, prefix)
		}
		if prefix >= 0 {
			caller = stacks[int(prefix)]
		}
		r.places = append(r.places, frames[frame])
		stacks[i] = r.addStack(caller, len(r.places)-1)
	}
	return stacks, nil
}

// at returns a number of a column, or -1 if there is none.
func at(column []*float64, i int) float64 {
	if i >= len(column) || column[i] == nil || !(*column[i] >= 0) || *column[i] > math.MaxInt32 {
		return -1
	}
	return *column[i]
}

// thread adds the samples of a thread.
func (r *firefoxReader) thread(path string, data json.RawMessage, stacks firefoxStacks) error {
	var x firefoxThread
	if err := r.decode(path, data, &x); err != nil {
		return err
	}
	if len(x.StackTable.Frame) > 0 {
		var err error
		if stacks, err = r.tables(path, &x.firefoxTables); err != nil {
			return err
		}
	}
	thread := int32(len(r.Threads))
	of := Thread{Process: idOf(x.PID), ID: idOf(x.TID)}
	of.ProcessName, of.Name = bareName(x.ProcessName, "process", of.Process), bareName(x.Name, "thread", of.ID)
	r.Threads = append(r.Threads, of)
	s := &x.Samples
	if len(s.Weight) > 0 && len(s.Weight) != len(s.Stack) {
		return fmt.Errorf("%s.samples.weight: there are %d, and %d stacks", path, len(s.Weight), len(s.Stack))
	}
	kind, factor := 0, 1.0
	if len(s.Weight) > 0 {
		kind = int(r.types.of(firefoxType(s.WeightType)))
		_, unit := unitOf(s.WeightType)
		factor = float64(unit)
	}
	var round rounder
	when := 0.0
	for i := range s.Stack {
		one := Sample{Stack: -1, Thread: thread}
		if i < len(s.TimeDeltas) {
			when += s.TimeDeltas[i]
		} else if i < len(s.Time) {
			when = s.Time[i]
		}
		if r.Start > 0 && math.Abs(when) < 1e12 {
			one.At = r.Start + int64(math.Round(when*1e6))
		}
		if k := at(s.Stack, i); k >= 0 {
			if int(k) >= len(stacks) {
				return fmt.Errorf("%s.samples.stack[%d]: stack %v is not one of the %d", path, i, k, len(stacks))
			}
			one.Stack = stacks[int(k)]
		}
		weight := 1.0
		if len(s.Weight) > 0 {
			if weight = 0; s.Weight[i] != nil {
				weight = *s.Weight[i]
			}
		}
		if weight < 0 {
			return fmt.Errorf("%s.samples.weight[%d]: it weighs %v", path, i, weight)
		}
		r.addOne(one, 0, 1)
		if n := len(r.values) - len(r.Types); kind > 0 || len(s.Weight) > 0 {
			r.values[n+kind] = round.next(weight * factor)
		}
	}
	return nil
}

// bareName returns the name of a thing without its number, which we write with it.
func bareName(name, thing string, id int64) string {
	number := strconv.FormatInt(id, 10)
	if name == thing+" "+number {
		return ""
	}
	return strings.TrimSuffix(name, " ("+number+")")
}

// idOf returns a number that may stand in quotes, or 0.
func idOf(data json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.Trim(string(data), `"`), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
