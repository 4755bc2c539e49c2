package profile

import "cmp"

// A protoReader reads the messages that profiles of pprof and of OpenTelemetry have in common:
// they name texts by their numbers, and differ in the id that those of pprof begin with.
type protoReader struct {
	*Profile
	strings []string
	threads interner[Thread]
	missing int // references to what is not there
}

// text returns a string by its number.
func (r *protoReader) text(i uint64) string {
	if i >= uint64(len(r.strings)) {
		if i > 0 {
			r.missing++
		}
		return ""
	}
	return r.strings[i]
}

func (r *protoReader) valueType(f *field) (t ValueType, err error) {
	err = r.fields("value type", f.b, f.at, func(f *field) error {
		switch f.number {
		case 1:
			t.Name = r.text(f.v)
		case 2:
			t.Unit = r.text(f.v)
		}
		return nil
	})
	return t, err
}

// readFunction adds a function, whose fields behind the id, if there is one, begin with first.
func (r *protoReader) readFunction(f *field, first int) (id uint64, err error) {
	var fn Function
	err = r.fields("function", f.b, f.at, func(f *field) error {
		switch f.number - first {
		case -1:
			id = f.v
		case 0:
			fn.Name = r.text(f.v)
		case 1:
			fn.Full = r.text(f.v)
		case 2:
			fn.File = r.text(f.v)
		}
		return nil
	})
	fn.Name = cmp.Or(fn.Name, fn.Full)
	r.Functions = append(r.Functions, fn)
	return id, err
}

// readLocation adds the frames of a location, one for each of its lines, the first of which is
// the innermost. Module and function return the places of those that a location names, or -1.
func (r *protoReader) readLocation(f *field, first int, module, function func(uint64) int32) (id uint64, innermost int32, err error) {
	frame := Frame{Function: -1, Module: -1, Within: -1}
	var lines []Frame
	err = r.fields("location", f.b, f.at, func(f *field) error {
		switch f.number - first {
		case -1:
			id = f.v
		case 0:
			frame.Module = module(f.v)
		case 1:
			frame.Address = f.v
		case 2:
			line := Frame{Function: -1}
			err := r.fields("line", f.b, f.at, func(f *field) error {
				switch f.number {
				case 1:
					line.Function = function(f.v)
				case 2:
					line.Line = lineNumber(int64(f.v))
				}
				return nil
			})
			lines = append(lines, line)
			return err
		}
		return nil
	})
	if len(lines) == 0 {
		lines = []Frame{{Function: -1}}
	}
	for i := len(lines) - 1; i >= 0; i-- {
		frame.Function, frame.Line = lines[i].Function, lines[i].Line
		frame.Within = r.addFrame(frame)
	}
	return id, frame.Within, err
}
