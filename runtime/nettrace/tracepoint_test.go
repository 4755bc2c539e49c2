package nettrace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// The declarations of the kernel's events are trusted as far as they can be.
func TestKernelFields(t *testing.T) {
	with := func(fields ...etw.FieldDesc) []etw.FieldDesc {
		return append(commonFields[:len(commonFields):len(commonFields)], fields...)
	}
	field := func(name string, typ etw.InType, room uint16) etw.FieldDesc {
		return etw.FieldDesc{Name: name, Type: typ, Room: room}
	}
	for name, tt := range map[string]struct {
		provider       string
		declared, want []etw.FieldDesc
	}{
		"alignment": {"kmem", with(field("pfn", etw.InUInt64, 0), field("order", etw.InUInt32, 0), field("flags", etw.InUInt64, 0), field("type", etw.InInt32, 0)),
			with(field("pfn", etw.InUInt64, 0), field("order", etw.InUInt32, 8), field("flags", etw.InUInt64, 0), field("type", etw.InInt32, 0))},
		"an array at the end": {"sched", with(field("pid", etw.InInt32, 0), field("comm", etw.InUInt8, 0)), with(field("pid", etw.InInt32, 0))},
		"text at the end":     {"sched", with(field("filename", etw.InUInt32, 0)), with()},
		"a system call":       {"syscalls", with(field("nr", etw.InInt32, 0), field("dfd", etw.InInt32, 0), field("size", etw.InInt32, 0)), with(field("nr", etw.InInt32, 8), field("dfd", etw.InInt32, 8), field("size", etw.InInt32, 0))},
		"a type without size": {"x", with(etw.FieldDesc{Name: "s", Type: etw.InUnicodeString}, field("n", etw.InInt32, 0)), with()},
		"another event":       {"x", []etw.FieldDesc{field("Value", etw.InVarUint, 0)}, nil},
		"other first fields":  {"x", append([]etw.FieldDesc{field("common_type", etw.InUInt32, 0)}, commonFields[1:]...), nil},
	} {
		got, is := kernelFields(tt.provider, tt.declared)
		if diff := cmp.Diff(tt.want, got); diff != "" || is != (tt.want != nil) {
			t.Errorf("%s: %v (-want +got):\n%s", name, is, diff)
		}
	}
}
