package otlp

import "github.com/etwgen/etwgen/runtime/etw"

// A Sink takes the attributes of a log record one by one, in their order: it lets programs
// that build messages in another form share the mapping of this package. Within an array the
// keys are empty.
type Sink interface {
	Text(key, v string)
	Int(key string, v int64)
	Bool(key string, v bool)
	Float(key string, v float64)
	// Bytes takes bytes, which are to be copied.
	Bytes(key string, v []byte)
	GUID(key string, v etw.GUID)
	// None takes a value of which nothing is known.
	None(key string)
	// Map and Array begin a value of several values, and End ends the last one begun.
	Map(key string)
	Array(key string)
	End()
}

// A jsonSink appends attributes as JSON has them.
type jsonSink struct {
	b     []byte
	first bool
	lists []bool // which of the values that have begun are arrays
}

func (s *jsonSink) inArray() bool { return len(s.lists) > 0 && s.lists[len(s.lists)-1] }

// begin begins a value, behind its key.
func (s *jsonSink) begin(key string) {
	if !s.first {
		s.b = append(s.b, ',')
	}
	s.first = false
	if !s.inArray() {
		s.b = appendKey(s.b, key)
	}
}

// close ends the attribute, if the value is one.
func (s *jsonSink) close() {
	if !s.inArray() {
		s.b = append(s.b, '}')
	}
}

func (s *jsonSink) Text(key, v string) {
	s.begin(key)
	s.b = appendText(s.b, v)
	s.close()
}

func (s *jsonSink) Int(key string, v int64) {
	s.begin(key)
	s.b = appendInt(s.b, v)
	s.close()
}

func (s *jsonSink) Bool(key string, v bool) {
	s.begin(key)
	s.b = appendBool(s.b, v)
	s.close()
}

func (s *jsonSink) Float(key string, v float64) {
	s.begin(key)
	s.b = appendFloat(s.b, v)
	s.close()
}

func (s *jsonSink) Bytes(key string, v []byte) {
	s.begin(key)
	s.b = appendBytes(s.b, v)
	s.close()
}

func (s *jsonSink) GUID(key string, v etw.GUID) {
	s.begin(key)
	s.b = append(s.b, `{"stringValue":"`...)
	s.b, _ = v.AppendText(s.b)
	s.b = append(s.b, `"}`...)
	s.close()
}

func (s *jsonSink) None(key string) {
	s.begin(key)
	s.b = append(s.b, "{}"...)
	s.close()
}

func (s *jsonSink) Map(key string) {
	s.begin(key)
	s.b = append(s.b, `{"kvlistValue":{"values":[`...)
	s.lists, s.first = append(s.lists, false), true
}

func (s *jsonSink) Array(key string) {
	s.begin(key)
	s.b = append(s.b, `{"arrayValue":{"values":[`...)
	s.lists, s.first = append(s.lists, true), true
}

func (s *jsonSink) End() {
	s.b = append(s.b, "]}}"...)
	s.lists, s.first = s.lists[:len(s.lists)-1], false
	s.close()
}
