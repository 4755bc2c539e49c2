package counters

import "github.com/etwgen/etwgen/runtime/etw"

// eventName is how all sources call the events of their counters.
const eventName = "EventCounters"

// Handler returns a handler of the events of counters, for [etw.Mux.HandleRest] or for
// records of any other origin. It passes over all others. As everywhere, the arguments of
// the functions are valid until they return; either may be nil.
func Handler(values func(*etw.Record, *Value) error, increments func(*etw.Record, *Increment) error) func(*etw.Record) error {
	var v Value
	var i Increment
	return func(r *etw.Record) error {
		switch shape := shapeOf(r); {
		case shape == &value && values != nil:
			if _, err := v.DecodePayload(r.Payload, r.PointerSize); err != nil {
				return err
			}
			return values(r, &v)
		case shape == &increment && increments != nil:
			if _, err := i.DecodePayload(r.Payload, r.PointerSize); err != nil {
				return err
			}
			return increments(r, &i)
		}
		return nil
	}
}

// shapeOf returns the shape of an event of counters, or nil. Its description in the trace is
// one struct, with the fields.
func shapeOf(r *etw.Record) *etw.EventDesc {
	if r.Schema == nil || r.Schema.Name != eventName {
		return nil
	}
	fields := r.Schema.Fields
	if len(fields) == 1 && fields[0].Type == etw.InStruct {
		fields = fields[0].Fields
	}
	for _, shape := range []*etw.EventDesc{&value, &increment} {
		if same(fields, shape.Fields) {
			return shape
		}
	}
	return nil
}

// same reports whether a trace has the fields of a shape. It may have more behind them.
func same(fields, shape []etw.FieldDesc) bool {
	if len(fields) < len(shape) {
		return false
	}
	for i := range shape {
		if fields[i].Name != shape[i].Name || fields[i].Type != shape[i].Type {
			return false
		}
	}
	return true
}
