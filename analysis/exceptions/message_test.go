package exceptions

import (
	"slices"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestNoMessage: of an exception without a message .NET Core 3.1 leaves out the string with its end.
func TestNoMessage(t *testing.T) {
	for ptr, address := range map[etw.PtrSize]int{etw.Ptr32: 4, etw.Ptr64: 8} {
		thrown := &clr.ExceptionThrownV1{ExceptionType: etw.MakeUTF16("OopsC"), ExceptionEIP: 0x7f7cce, ExceptionHRESULT: 0x80131500, ExceptionFlags: clr.ExceptionThrownFlagsCLSCompliant, ClrInstanceID: 9}
		p, err := thrown.AppendPayload(nil, ptr)
		if err != nil {
			t.Fatal(err)
		}
		at := len(p) - 8 - address
		var e anyThrown
		if n, err := e.DecodeVersion(1, p, ptr); err != nil || n != len(p) {
			t.Fatalf("whole: %d of %d, %v", n, len(p), err)
		}
		want := e.AnyExceptionThrown
		without := slices.Delete(slices.Clone(p), at-2, at)
		if n, err := e.DecodeVersion(1, without, ptr); err != nil || n != len(without) || e.ExceptionType.String() != "OopsC" || e.ExceptionMessage.Len() != 0 || e.ExceptionHRESULT != want.ExceptionHRESULT || e.ClrInstanceID != 9 {
			t.Errorf("without a message: %+v, %v", e, err)
		}
		for n := range without {
			if _, err := e.DecodeVersion(1, without[:n], ptr); err == nil {
				t.Errorf("its first %d bytes are an exception: %+v", n, e)
			}
		}
	}
}
