package etw

import (
	"errors"
	"testing"
)

// Messages name the event, and its provider where that alone says which it is.
func TestErrors(t *testing.T) {
	unnamed := &ProviderDesc{GUID: GUID{1}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&DecodeError{Event: &startV1Desc, Field: "Name", Offset: 4, Len: 6, Err: ErrTruncated},
			"etw: decode Start_V1.Name at offset 4 of 6: truncated payload: unexpected EOF"},
		{&DecodeError{Event: &startV1Desc, Len: 6, Err: ErrTruncated}, "etw: decode Start_V1 of 6 bytes: truncated payload: unexpected EOF"},
		{&DecodeError{Event: &EventDesc{Provider: testProvider, ID: 7}, Field: "Name", Offset: 4, Len: 6, Err: ErrCount},
			"etw: decode Test-Provider/Event7.Name at offset 4 of 6: count does not fit the elements"},
		{&DecodeError{Event: &EventDesc{Provider: testProvider, TaskName: "Process", OpcodeName: "Start"}, Err: ErrCount},
			"etw: decode Test-Provider/Process/Start of 0 bytes: count does not fit the elements"},
		{&DecodeError{Event: &EventDesc{Provider: unnamed, ID: 7}, Err: ErrNUL},
			"etw: decode 00000001-0000-0000-0000-000000000000/Event7 of 0 bytes: NUL in a NUL-terminated string"},
		{&DecodeError{Event: &EventDesc{ID: 7}, Err: ErrNUL}, "etw: decode Event7 of 0 bytes: NUL in a NUL-terminated string"},
		{&EncodeError{Event: &startV1Desc, Field: "Name", Err: ErrNUL}, "etw: encode Start_V1.Name: NUL in a NUL-terminated string"},
		{&EncodeError{Event: &EventDesc{Provider: testProvider, ID: 7}, Field: "Name", Err: ErrNUL},
			"etw: encode Test-Provider/Event7.Name: NUL in a NUL-terminated string"},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if errors.Unwrap(test.err) == nil {
			t.Errorf("%v wraps nothing", test.err)
		}
	}
}

// A decoder that refuses a payload which fits the description is named without a
// field.
func TestShortOfGoodPayload(t *testing.T) {
	err := Short(&startV1Desc, payloadV1, Ptr64)
	if d, ok := errors.AsType[*DecodeError](err); !ok || d.Field != "" || d.Len != len(payloadV1) || !errors.Is(err, ErrTruncated) {
		t.Errorf("got %v", err)
	}
}
