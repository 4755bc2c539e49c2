package provider

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// An answering is a Windows that gives prepared answers.
type answering struct {
	*fakeETW
	answer []byte
	code   uint32
}

func (a answering) enumerateTraceGuids(_ uint32, _, out []byte) (uint32, uint32) {
	if n := uint32(len(a.answer)); int(n) > len(out) {
		return n, codeInsufficientBuffer
	}
	return uint32(copy(out, a.answer)), a.code
}

func (*fakeETW) enumerateTraceGuids(uint32, []byte, []byte) (uint32, uint32) {
	return 0, codeInvalidParameter
}

func TestRegistered(t *testing.T) {
	var want []etw.GUID
	var answer []byte
	for i := range 10000 {
		g := etw.GUID{byte(i), byte(i >> 8)}
		want, answer = append(want, g), append(answer, g[:]...)
	}
	got, err := listOf(answering{newFake(), answer, 0})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var failed *Error
	if _, err := listOf(answering{newFake(), nil, 5}); !errors.As(err, &failed) || failed.Code != 5 {
		t.Errorf("got %v", err)
	}
	if _, err := registrationsOf(nil, etw.GUID{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without ETW: %v", err)
	}
}

func TestRegistrations(t *testing.T) {
	le := binary.LittleEndian
	enabled := func(on, session uint32, level byte, any, all uint64) []byte {
		b := le.AppendUint32(nil, on)
		b = le.AppendUint16(append(b, level, 0), uint16(session))
		b = le.AppendUint64(b, 4)
		return le.AppendUint64(le.AppendUint64(b, any), all)
	}
	instance := func(next, pid, flags uint32, sessions ...[]byte) []byte {
		b := le.AppendUint32(le.AppendUint32(nil, next), uint32(len(sessions)))
		b = le.AppendUint32(le.AppendUint32(b, pid), flags)
		for _, s := range sessions {
			b = append(b, s...)
		}
		return b
	}
	answer := append([]byte{3, 0, 0, 0, 0, 0, 0, 0}, instance(80, 7, 0, enabled(1, 9, 5, 0xff, 1), enabled(0, 8, 1, 1, 1))...)
	answer = append(answer, instance(16, 8, 1)...)
	answer = append(answer, instance(0, 0, 2, enabled(1, 300, 4, 1<<63, 0))...)
	want := []Registration{
		{ProcessID: 7, Enabled: []EnabledBy{{9, 5, 0xff, 1, 4}}},
		{ProcessID: 8, Classic: true},
		{Enabled: []EnabledBy{{300, 4, 1 << 63, 0, 4}}},
	}
	got, err := registrationsOf(answering{newFake(), answer, 0}, etw.GUID{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := registrationsOf(answering{newFake(), nil, codeGUIDNotFound}, etw.GUID{}); err != nil || len(got) > 0 {
		t.Errorf("of a provider that nobody has: %v, %v", got, err)
	}
	for n := range answer { // whatever is cut off
		parseRegistrations(answer[:n])
	}
	le.PutUint32(answer[8:], 1<<31)
	if got := parseRegistrations(answer); len(got) != 1 {
		t.Errorf("an offset beyond the end: %+v", got)
	}
}
