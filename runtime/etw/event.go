package etw

// An Event is one version of an event, as a type that etwgen generated.
type Event interface {
	Described
	// DecodePayload sets the event from the start of the payload p and returns
	// the number of bytes that it read. Views in the event alias p. After an
	// error the event's fields are unspecified.
	DecodePayload(p []byte, ptr PtrSize) (int, error)
	// AppendPayload appends the payload of the event to b. On an error it
	// returns b as it was.
	AppendPayload(b []byte, ptr PtrSize) ([]byte, error)
}

// An AnyVersion is a generated type that takes every version of one event id.
// Its EventDesc is that of the version it was last decoded from.
type AnyVersion interface {
	Described
	// DecodeVersion is DecodePayload for a payload of the given version. A
	// version that is not known is decoded as the newest one that is not newer,
	// or else as the oldest.
	DecodeVersion(version uint8, p []byte, ptr PtrSize) (int, error)
}

// Versions returns the descriptions of the known versions of an event, the oldest first.
func Versions(e AnyVersion) []*EventDesc {
	if e, several := e.(interface{ EventDescs() []*EventDesc }); several {
		return e.EventDescs()
	}
	return []*EventDesc{e.EventDesc()}
}

// Seen tells a handler of an [AnyVersion] which version it got.
type Seen struct {
	Version uint8 // of the event that was logged
	Layout  uint8 // of the layout that it was decoded by
}

// Newer reports whether the event is of a version that is not known. Then it
// was decoded by the newest layout that is, and may hold more than that.
func (s Seen) Newer() bool { return s.Version > s.Layout }

// Empty has the payload of an event without fields: there is nothing in it.
type Empty struct{}

// DecodePayload reads nothing.
func (*Empty) DecodePayload([]byte, PtrSize) (int, error) { return 0, nil }

// AppendPayload appends nothing.
func (*Empty) AppendPayload(b []byte, _ PtrSize) ([]byte, error) { return b, nil }

// FieldValue returns no value.
func (*Empty) FieldValue(int) Value { return Value{} }

// Described is the input of rendering: a description and the values that go with it.
type Described interface {
	// EventDesc returns the description of the event.
	EventDesc() *EventDesc
	// FieldValue returns the value of field i of EventDesc().Fields.
	FieldValue(i int) Value
}
