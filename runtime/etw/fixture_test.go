package etw

import "encoding/binary"

// Events in the form of generated ones, for the tests of this package.

var testProvider = &ProviderDesc{Name: "Test-Provider", GUID: MustParseGUID("11112222-3333-4444-5555-666677778888"), Generated: true}

var colorMap = MapDesc{Name: "ColorMap", Entries: []MapEntry{{0, "Red"}, {1, "Green"}}}

var startV0 = EventDesc{
	Provider: testProvider, ID: 1, Version: 0, Level: 4, Keywords: 0x1, Name: "Start",
	Fields: []FieldDesc{{Name: "Count", Type: InUInt32}},
}

type start struct{ Count uint32 }

func (*start) EventDesc() *EventDesc { return &startV0 }

func (e *start) DecodePayload(p []byte, ptr PtrSize) (int, error) {
	if len(p) < 4 {
		return 0, Short(&startV0, p, ptr)
	}
	e.Count = binary.LittleEndian.Uint32(p)
	return 4, nil
}

func (e *start) AppendPayload(b []byte, _ PtrSize) ([]byte, error) {
	return binary.LittleEndian.AppendUint32(b, e.Count), nil
}

func (e *start) FieldValue(i int) Value {
	if i == 0 {
		return UintValue(uint64(e.Count))
	}
	return Value{}
}

var startV1Desc = EventDesc{
	Provider: testProvider, ID: 1, Version: 1, Level: 5, Keywords: 0x2, Name: "Start_V1",
	Fields: []FieldDesc{{Name: "Count", Type: InUInt32}, {Name: "Name", Type: InUnicodeString}, {Name: "Color", Type: InUInt8, Map: &colorMap}},
}

type startV1 struct {
	Count uint32
	Name  UTF16
	Color uint8
}

func (*startV1) EventDesc() *EventDesc { return &startV1Desc }

func (e *startV1) DecodePayload(p []byte, ptr PtrSize) (int, error) {
	if len(p) < 4 {
		return 0, Short(&startV1Desc, p, ptr)
	}
	e.Count = binary.LittleEndian.Uint32(p)
	r := NewCursor(p, 4, ptr)
	e.Name = r.UTF16()
	e.Color = r.Uint8()
	return r.Done(&startV1Desc)
}

func (e *startV1) AppendPayload(b []byte, ptr PtrSize) ([]byte, error) {
	w := NewAppender(b, ptr)
	w.Uint32(e.Count)
	w.UTF16Z(1, e.Name)
	w.Uint8(e.Color)
	return w.Done(&startV1Desc)
}

func (e *startV1) FieldValue(i int) Value {
	switch i {
	case 0:
		return UintValue(uint64(e.Count))
	case 1:
		return UTF16Value(e.Name)
	case 2:
		return UintValue(uint64(e.Color))
	}
	return Value{}
}

// anyStart takes both versions.
type anyStart struct {
	Seen Seen
	startV1
}

func (e *anyStart) EventDesc() *EventDesc {
	if e.Seen.Layout == 0 {
		return &startV0
	}
	return &startV1Desc
}

func (*anyStart) EventDescs() []*EventDesc { return []*EventDesc{&startV0, &startV1Desc} }

func (e *anyStart) DecodeVersion(version uint8, p []byte, ptr PtrSize) (int, error) {
	if version == 0 {
		var s start
		n, err := s.DecodePayload(p, ptr)
		e.startV1 = startV1{Count: s.Count}
		e.Seen = Seen{0, 0}
		return n, err
	}
	e.Seen = Seen{version, 1}
	return e.startV1.DecodePayload(p, ptr)
}

var testEvents = &Provider{
	Desc:     testProvider,
	Events:   []*EventDesc{&startV0, &startV1Desc},
	Keywords: []KeywordDesc{{"One", 1}, {"Two", 2}},
}

func testRecord(version uint8, payload []byte) *Record {
	return &Record{Provider: testProvider.GUID, ID: 1, Version: version, PointerSize: Ptr64, Payload: payload, ProcessID: -1}
}
