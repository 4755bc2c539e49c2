package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A speedscopeProfile is one of a file, such as that of a thread.
type speedscopeProfile struct {
	Type    string          `json:"type"`
	Name    string          `json:"name"`
	Unit    string          `json:"unit"`
	End     float64         `json:"endValue"`
	Samples json.RawMessage `json:"samples"`
	Weights []float64       `json:"weights"`
	Events  json.RawMessage `json:"events"`
}

// A speedscopeFrame is a frame of one of them.
type speedscopeFrame struct {
	Name *string `json:"name"`
	File string  `json:"file"`
	Line float64 `json:"line"`
}

// A speedscopeEvent opens or closes a frame.
type speedscopeEvent struct {
	Type  string  `json:"type"`
	At    float64 `json:"at"`
	Frame *int32  `json:"frame"`
}

// A speedscopeReader reads the files of speedscope.
type speedscopeReader struct {
	*Profile
	unclosed int // frames that were closed out of their order, or not at all
	lonely   int // that were closed, and not open
}

func readSpeedscope(p *Profile, d *document) error {
	p.Format = "speedscope"
	if len(d.Name) > 0 {
		json.Unmarshal(d.Name, &p.Name) // which may be no text; it is nothing but a name
	}
	var shared struct {
		Frames json.RawMessage `json:"frames"`
	}
	if err := p.decode("shared", d.Shared, &shared); err != nil {
		return err
	}
	functions := internTo(&p.Functions)
	err := elements(p, "shared.frames", shared.Frames, func(_ int, f *speedscopeFrame) error {
		if f.Name == nil {
			return errors.New("it has no name")
		}
		p.addFrame(Frame{Function: functions.of(Function{Name: *f.Name, File: f.File}), Module: -1, Line: lineNumber(int64(f.Line)), Within: -1})
		return nil
	})
	if err != nil {
		return err
	}
	// Types come before samples: how many there are says where values stand.
	var list []speedscopeProfile
	units := internTo(new([]string))
	err = elements(p, "profiles", d.Profiles, func(_ int, x *speedscopeProfile) error {
		if len(units.ids) >= maxValueTypes {
			return fmt.Errorf("there are more than %d units", maxValueTypes)
		}
		list = append(list, *x)
		units.of(x.Unit)
		return nil
	})
	if err != nil {
		return err
	}
	for _, unit := range *units.into {
		p.Types = append(p.Types, speedscopeType(unit))
	}
	r := &speedscopeReader{Profile: p}
	for i := range list {
		if err := r.profile(&list[i], i, int(units.of(list[i].Unit))); err != nil {
			return fmt.Errorf("profiles[%d].%w", i, err)
		}
	}
	if r.unclosed > 0 {
		p.warn("%d frames were closed out of their order or not at all, and end with their callers", r.unclosed)
	}
	if r.lonely > 0 {
		p.warn("%d frames were closed that were not open", r.lonely)
	}
	return nil
}

// speedscopeType returns the quantity of a unit. Numbers are scaled when they are read,
// since they have fractions.
func speedscopeType(unit string) ValueType {
	switch scaled, _ := unitOf(unit); scaled {
	case "nanoseconds":
		return ValueType{"time", scaled}
	case "bytes":
		return ValueType{"space", scaled}
	case "", "none":
		return ValueType{"weight", ""}
	}
	return ValueType{"weight", unit}
}

// profile reads one profile.
func (r *speedscopeReader) profile(x *speedscopeProfile, i, of int) error {
	thread := int32(len(r.Threads))
	r.Threads = append(r.Threads, Thread{Name: x.Name})
	_, factor := unitOf(x.Unit)
	switch x.Type {
	case "sampled":
		return r.sampled(x, thread, of, float64(factor))
	case "evented":
		return r.evented(x, thread, of, float64(factor))
	}
	return fmt.Errorf("type: %q is neither sampled nor evented", x.Type)
}

func (r *speedscopeReader) sampled(x *speedscopeProfile, thread int32, of int, factor float64) error {
	var round rounder
	n := 0
	err := elements(r.Profile, "samples", x.Samples, func(i int, frames *[]int32) error {
		if i >= len(x.Weights) {
			return fmt.Errorf("there are %d weights", len(x.Weights))
		}
		n++
		if x.Weights[i] < 0 {
			return fmt.Errorf("it weighs %v", x.Weights[i])
		}
		from := len(r.places)
		for _, f := range slices.Backward(*frames) {
			if err := r.checkFrame(f); err != nil {
				return err
			}
			r.places = append(r.places, f)
		}
		s := Sample{Stack: -1, Thread: thread}
		if len(*frames) > 0 {
			s.Stack = r.addStack(-1, from)
		}
		r.addOne(s, of, round.next(x.Weights[i]*factor))
		return nil
	})
	if err == nil && n < len(x.Weights) {
		err = fmt.Errorf("weights: there are %d, and %d samples", len(x.Weights), n)
	}
	return err
}

func (r *speedscopeReader) checkFrame(f int32) error {
	if f < 0 || int(f) >= len(r.Frames) {
		return fmt.Errorf("frame %d is not one of the %d", f, len(r.Frames))
	}
	return nil
}

// evented makes samples of the times between events. Old writers nest frames wrongly: a frame
// that is closed ends all that it called, and one that is not open is left alone.
func (r *speedscopeReader) evented(x *speedscopeProfile, thread int32, of int, factor float64) error {
	var round rounder
	var open []int32 // stacks, the innermost last
	var frames []int32
	times := make([]int32, len(r.Frames)) // that a frame is open, so that none is looked for in vain
	last := 0.0
	pass := func(at float64) {
		if n := len(open); n > 0 && at > last {
			r.addOne(Sample{Stack: open[n-1], Thread: thread}, of, round.next((at-last)*factor))
		}
		last = max(last, at)
	}
	err := elements(r.Profile, "events", x.Events, func(i int, e *speedscopeEvent) error {
		if e.Frame == nil {
			return errors.New("it has no frame")
		}
		if err := r.checkFrame(*e.Frame); err != nil {
			return err
		}
		if i == 0 {
			last = e.At
		}
		pass(e.At)
		switch e.Type {
		case "O":
			if len(open) >= maxDepth {
				return fmt.Errorf("more than %d frames are open", maxDepth)
			}
			caller := int32(-1)
			if n := len(open); n > 0 {
				caller = open[n-1]
			}
			r.places = append(r.places, *e.Frame)
			open, frames = append(open, r.addStack(caller, len(r.places)-1)), append(frames, *e.Frame)
			times[*e.Frame]++
		case "C":
			if times[*e.Frame] == 0 {
				r.lonely++
				return nil
			}
			at := len(frames) - 1
			for ; frames[at] != *e.Frame; at-- {
				times[frames[at]]--
				r.unclosed++
			}
			times[*e.Frame]--
			open, frames = open[:at], frames[:at]
		default:
			return fmt.Errorf("type: %q is neither O nor C", e.Type)
		}
		return nil
	})
	if err != nil {
		return err
	}
	pass(x.End)
	r.unclosed += len(open)
	return nil
}
