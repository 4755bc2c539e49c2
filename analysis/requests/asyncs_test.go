package requests

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/internal/testtrace"
	"github.com/etwgen/etwgen/analysis/stacks"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestAsyncs: async methods that the runtime tells of have names, and the version of a newer
// form is told.
func TestAsyncs(t *testing.T) {
	var mux etw.Mux
	code, a := symbols.New(&mux), New(&mux)
	a.NameBy(func(s *stacks.Samples) *stacks.Profile {
		return stacks.NewProfile(code.Table(), stacks.Options{Names: stacks.QualifiedNames}, s)
	})
	s := testtrace.NewScript(t, &mux)
	s.Event(1, 1, &clr.MethodLoadVerboseV2{MethodID: 1, ModuleID: 1, MethodStartAddress: 0x40, MethodSize: 0x20,
		MethodNamespace: etw.MakeUTF16("Shop"), MethodName: etw.MakeUTF16("Sell"), MethodSignature: etw.MakeUTF16("void  ()")})
	events := []byte{20, 0, // thread 7 begins to tell
		1, 1, 2, 0, 5, // task 5 suspends
		7, 100, 5, 0, 0, 0, 1, 5, 0x50, // goes on in a method
		3, 20} // and suspends
	for _, version := range []byte{1, 9} {
		p := binary.LittleEndian.AppendUint32([]byte{version}, uint32(37+len(events)))
		p = binary.LittleEndian.AppendUint64(append(p, 1, 0, 0, 0), 7)
		p = binary.LittleEndian.AppendUint64(append(p, 4, 0, 0, 0), 1000)
		p = append(binary.LittleEndian.AppendUint64(p, 1121), events...)
		s.Record(2000, 1, &etw.Record{ProviderName: asyncs.Provider, ID: 1, Version: 1, Kind: etw.KindManifest, PointerSize: etw.Ptr64,
			Payload: append(binary.LittleEndian.AppendUint32(nil, uint32(len(p))), p...)})
	}
	res := a.Result()
	if len(res.Processes) != 1 || res.Processes[0].RuntimeAsync == nil {
		t.Fatalf("%+v", res)
	}
	x := res.Processes[0].RuntimeAsync
	if len(x.Methods) != 1 || *x.Methods[0] != (asyncs.Method{Name: "Shop.Sell", Runs: 1, RunningMS: 20e-6, LongestRunMS: 20e-6, Awaits: 1, AwaitingMS: 100e-6, LongestMS: 100e-6}) {
		t.Errorf("%+v", *x)
	}
	if text := strings.Join(res.Warnings(), "\n"); !strings.Contains(text, "process 1: ") || !strings.Contains(text, "version 9") || x.Unknown != 1 {
		t.Errorf("nothing is said of version 9: %s", text)
	}
	for _, v := range res.Tables() {
		if v.Name == "async" && v.Rows != 2 {
			t.Errorf("%d rows", v.Rows)
		}
	}
}
