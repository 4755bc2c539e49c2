package types

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/internal/lives"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

func TestNames(t *testing.T) {
	var mux etw.Mux
	a := Of(&mux)
	s := testtrace.NewScript(t, &mux)
	send := func(list ...clr.BulkTypeValue) {
		v, err := clr.MakeBulkTypeValues(etw.Ptr64, list...)
		if err != nil {
			t.Fatal(err)
		}
		s.Event(0, 1, &clr.BulkType{Count: uint32(len(list)), ClrInstanceID: 7, Values: v})
	}
	array := func(id, of byte, rank clr.TypeFlags) clr.BulkTypeValue {
		return clr.BulkTypeValue{TypeID: uint64(id), Flags: clr.TypeFlagsArray | rank<<8, TypeParameterCount: 1,
			TypeParameters: etw.Uint64s([]byte{of, 0, 0, 0, 0, 0, 0, 0})}
	}
	send(clr.BulkTypeValue{TypeID: 1, TypeNameID: 0x2000001, ModuleID: 0x10}, array(2, 3, 0), array(4, 2, 3), array(5, 5, 1))
	send(clr.BulkTypeValue{TypeID: 3, Name: etw.MakeUTF16("A.B")})
	send(clr.BulkTypeValue{TypeID: 3}) // without its name: the one before is better
	k := lives.Key{PID: 1, CLR: 7}
	for id, want := range map[uint64]string{
		1: "token 0x2000001 of module 0x10", 2: "A.B[]", 3: "A.B", 4: "A.B[][,,]", 9: "type 0x9",
		5: "type 0x5[][][][][][][][][]", // a type that is an array of itself
	} {
		if got := a.Name(k, id); got != want {
			t.Errorf("type %d is %s, want %s", id, got, want)
		}
	}
	if typ, ok := a.Lookup(k, 1); !ok || typ.Token != 0x2000001 {
		t.Errorf("%+v, %v", typ, ok)
	}
	if _, ok := a.Lookup(lives.Key{}, 1); ok {
		t.Error("another runtime has the type")
	}
}
