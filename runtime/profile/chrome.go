package profile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/etwgen/etwgen/internal/order"
)

// A cpuProfile is a .cpuprofile of V8, which Chrome and Node.js write. Times are in
// microseconds.
type cpuProfile struct {
	Nodes      json.RawMessage `json:"nodes"`
	StartTime  float64         `json:"startTime"`
	EndTime    float64         `json:"endTime"`
	Samples    []int64         `json:"samples"`
	TimeDeltas []float64       `json:"timeDeltas"`
}

// A cpuNode is a stack, by its innermost frame and those that it called.
type cpuNode struct {
	ID        int64    `json:"id"`
	Parent    *int64   `json:"parent"`
	Children  []int64  `json:"children"`
	HitCount  float64  `json:"hitCount"`
	CallFrame *cpuCall `json:"callFrame"`
}

type cpuCall struct {
	FunctionName string  `json:"functionName"`
	URL          string  `json:"url"`
	LineNumber   float64 `json:"lineNumber"` // from 0 on
}

// readCPUProfile reads a profile of V8. A sample lasts until the next one.
func readCPUProfile(p *Profile, data []byte) error {
	p.Format = "cpuprofile"
	p.Types, p.Default = []ValueType{{"samples", "count"}, {"time", "microseconds"}}, 1
	var d cpuProfile
	if err := p.decode("", data, &d); err != nil {
		return err
	}
	var nodes []cpuNode
	err := elements(p, "nodes", d.Nodes, func(_ int, n *cpuNode) error {
		if n.CallFrame == nil {
			return errors.New("it has no callFrame")
		}
		nodes = append(nodes, *n)
		return nil
	})
	if err != nil {
		return err
	}
	stacks, err := p.cpuStacks(nodes)
	if err != nil {
		return err
	}
	if len(d.Samples) == 0 {
		p.Types, p.Default = p.Types[:1], 0
		for i := range nodes {
			if hits := nodes[i].HitCount; hits > 0 {
				p.addSample(Sample{Stack: stacks[nodes[i].ID], Thread: -1}, new(rounder).next(hits))
			}
		}
		return nil
	}
	if len(d.TimeDeltas) != len(d.Samples) {
		return fmt.Errorf("timeDeltas: there are %d, and %d samples", len(d.TimeDeltas), len(d.Samples))
	}
	type sample struct {
		at    float64
		stack int32
	}
	list, at := make([]sample, len(d.Samples)), d.StartTime
	for i, id := range d.Samples {
		stack, ok := stacks[id]
		if !ok {
			return fmt.Errorf("samples[%d]: no node has the id %d", i, id)
		}
		at += d.TimeDeltas[i]
		list[i] = sample{at, stack}
	}
	if byTime := func(a, b sample) int { return cmp.Compare(a.at, b.at) }; !slices.IsSortedFunc(list, byTime) {
		order.Stable(list, byTime) // deltas can be below 0
	}
	var round rounder
	for i, s := range list {
		end := max(d.EndTime, s.at)
		if i+1 < len(list) {
			end = list[i+1].at
		}
		p.addSample(Sample{Stack: s.stack, Thread: -1}, 1, round.next(end-s.at))
	}
	if length := d.EndTime - d.StartTime; length > 0 && length < 1e15 {
		p.Duration = int64(length * 1000)
	}
	return nil
}

// cpuStacks adds the stacks of nodes, and returns them by the ids of these. The root is no
// frame.
func (p *Profile) cpuStacks(nodes []cpuNode) (map[int64]int32, error) {
	index, parents := make(map[int64]int, len(nodes)), make(map[int64]int64)
	for i := range nodes {
		if _, twice := index[nodes[i].ID]; twice {
			return nil, fmt.Errorf("nodes[%d]: two have the id %d", i, nodes[i].ID)
		}
		index[nodes[i].ID] = i
		if nodes[i].Parent != nil {
			parents[nodes[i].ID] = *nodes[i].Parent
		}
		for _, child := range nodes[i].Children {
			parents[child] = nodes[i].ID
		}
	}
	functions, frames := internTo(&p.Functions), make(map[Frame]int32)
	stacks := make(map[int64]int32, len(nodes))
	var path []int64
	for i := range nodes {
		path = path[:0]
		for id := nodes[i].ID; ; {
			if _, done := stacks[id]; done {
				break
			}
			if path = append(path, id); len(path) > maxDepth {
				return nil, fmt.Errorf("nodes[%d]: it has more than %d callers, or is one of its own", i, maxDepth)
			}
			parent, ok := parents[id]
			if _, known := index[parent]; !ok || !known {
				break
			}
			id = parent
		}
		for _, id := range slices.Backward(path) {
			caller := int32(-1)
			if parent, ok := parents[id]; ok {
				if s, known := stacks[parent]; known {
					caller = s
				}
			}
			call := nodes[index[id]].CallFrame
			if call.FunctionName == "(root)" {
				stacks[id] = -1
				continue
			}
			f := Frame{Function: functions.of(Function{Name: cmp.Or(call.FunctionName, "(anonymous)"), File: call.URL}), Module: -1, Within: -1}
			if call.LineNumber >= 0 && call.URL != "" {
				f.Line = lineNumber(int64(call.LineNumber) + 1)
			}
			number, ok := frames[f]
			if !ok {
				number = p.addFrame(f)
				frames[f] = number
			}
			p.places = append(p.places, number)
			stacks[id] = p.addStack(caller, len(p.places)-1)
		}
	}
	return stacks, nil
}
