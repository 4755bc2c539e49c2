package pick

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etwgen/etwgen/analysis/asyncs"
	"github.com/etwgen/etwgen/analysis/symbols"
	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestRuns: where the runtime tells which methods await the one that a thread runs, these are above
// it, in place of the code that goes on with tasks and of the frames outside of that. Those that are
// over are not.
func TestRuns(t *testing.T) {
	names := []string{"Shop!Shop.Price", "Shop!Shop.Sell", "Shop!Shop.Serve", "Shop!Shop.Main",
		"System.Private.CoreLib!System.Runtime.CompilerServices.AsyncProfiler+ContinuationWrapper.Continuation_Wrapper_3",
		"System.Private.CoreLib!System.Runtime.CompilerServices.AsyncHelpers+RuntimeAsyncTask`1.DispatchContinuations",
		"System.Private.CoreLib!System.Threading.ThreadPoolWorkQueue.Dispatch"}
	const price, sell, serve, main, wrapper, dispatch, pool = 0x1010, 0x1110, 0x1210, 0x1310, 0x1410, 0x1510, 0x1610
	var mux etw.Mux
	known := symbols.New(&mux)
	clock := &etw.Clock{Frequency: 1e9}
	for i, name := range names {
		space, method := name[strings.Index(name, "!")+1:strings.LastIndex(name, ".")], name[strings.LastIndex(name, ".")+1:]
		e := &clr.MethodLoadVerboseV2{MethodID: uint64(i + 1), ModuleID: 1, MethodStartAddress: uint64(0x1000 + 0x100*i), MethodSize: 0x80,
			MethodNamespace: etw.MakeUTF16(space), MethodName: etw.MakeUTF16(method), MethodSignature: etw.MakeUTF16("void  ()")}
		payload := testio.Payload(t, e, etw.Ptr64)
		d := e.EventDesc()
		if err := mux.Dispatch(&etw.Record{Provider: d.Provider.GUID, ID: d.ID, Version: d.Version, Schema: d, Kind: etw.KindManifest,
			PointerSize: etw.Ptr64, ProcessID: 1, Timestamp: 1, Clock: clock, Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	c := callers{table: known.Table(), known: make(map[uint64]code), of: make(map[filter.Worker][]calledBy), runs: make(map[filter.Worker][]asyncs.Run)}
	for _, r := range []asyncs.Run{
		{Thread: 2, From: 40, To: 50, Depth: 1, Frames: []uint64{sell, main}},
		{Thread: 2, From: 10, To: 90, Frames: []uint64{price, sell, serve, main}, Over: []time.Duration{20, 60, 60}},
		{Thread: 2, From: 95, To: 97, Frames: []uint64{serve}},
	} {
		c.addRun(1, r)
	}
	for _, tt := range []struct {
		at          time.Duration
		stack, want []uint64
	}{
		{5, []uint64{main, pool}, []uint64{main, pool}}, // in no run
		{15, []uint64{main, price, wrapper, dispatch, pool}, []uint64{main, price, sell, serve, main}},
		{30, []uint64{sell, wrapper, dispatch, pool}, []uint64{sell, serve, main}},
		{45, []uint64{sell, wrapper, dispatch, sell, wrapper, dispatch, pool}, []uint64{sell, main}}, // within the other one
		{70, []uint64{main, wrapper, dispatch, pool}, []uint64{main}},                                // two ended by an exception
		{92, []uint64{pool}, []uint64{pool}},
		{96, []uint64{0x9000, wrapper, dispatch, pool}, []uint64{0x9000}}, // nothing is known of the method
	} {
		r := &etw.Record{ProcessID: 1, ThreadID: 2, Timestamp: int64(tt.at), Clock: clock}
		r.Stack.PtrSize = etw.Ptr64
		for _, x := range tt.stack {
			r.Stack.Addresses = binary.LittleEndian.AppendUint64(r.Stack.Addresses, x)
		}
		c.extend(r, tt.at)
		var got []uint64
		for i := range r.Stack.Len() {
			got = append(got, r.Stack.At(i))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("at %d: %x, want %x", tt.at, got, tt.want)
		}
	}
}
