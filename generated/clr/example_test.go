package clr_test

import (
	"fmt"
	"time"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// Report the pauses of garbage collections. Any version of the events will do.
func Example_gcPauses() {
	type owner struct { // a process may have several runtimes
		process, thread int64
		runtime         uint16
	}
	var mux etw.Mux
	suspended := make(map[owner]time.Time)
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCSuspendEEBegin) error {
		switch e.Reason { // profilers suspend the program, too
		case clr.GCSuspendEEReasonSuspendForGC, clr.GCSuspendEEReasonSuspendForGCPrep:
			suspended[owner{r.ProcessID, r.ThreadID, e.ClrInstanceID}] = r.Time()
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error {
		fmt.Printf("collection %d of generation %d: %v, %v\n", e.Count, e.Depth, e.Type, e.Reason)
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCRestartEEEnd) error {
		who := owner{r.ProcessID, r.ThreadID, e.ClrInstanceID}
		if start, ok := suspended[who]; ok {
			delete(suspended, who)
			fmt.Println("pause", r.Time().Sub(start))
		}
		return nil
	})

	// The settings of a session for these handlers.
	for _, e := range mux.Enablement() {
		fmt.Println("enable", e)
	}
	for _, r := range recordedCollection() {
		if err := mux.Dispatch(r); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// enable Microsoft-Windows-DotNETRuntime:0x1:4
	// collection 7 of generation 1: NonConcurrentGC, AllocSmall
	// pause 1.25ms
}

// Resolve the types that other events know by a TypeID only.
func ExampleBulkType() {
	names := make(map[uint64]string)
	var mux etw.Mux
	etw.Handle(&mux, func(r *etw.Record, e *clr.BulkType) error {
		for v := range e.Values.All() {
			names[v.TypeID] = v.Name.String() // String copies: the event is a view
			if v.Flags&clr.TypeFlagsArray != 0 && v.TypeParameters.Len() == 1 {
				names[v.TypeID] = names[v.TypeParameters.At(0)] + "[]"
			}
		}
		return nil
	})
	etw.Handle(&mux, func(r *etw.Record, e *clr.GCSampledObjectAllocationHigh) error {
		fmt.Println(e.ObjectCountForTypeSample, "x", names[uint64(e.TypeID)])
		return nil
	})
	for _, r := range recordedTypes() {
		if err := mux.Dispatch(r); err != nil {
			fmt.Println(err)
		}
	}
	// Output: 4 x System.String[]
}

// Build an event and encode it, as a test of a consumer does.
func ExampleGCStartV1_AppendPayload() {
	e := clr.GCStartV1{
		Count:         7,
		Depth:         2,
		Reason:        clr.GCReasonInduced,
		Type:          clr.GCTypeBackgroundGC,
		ClrInstanceID: 9,
	}
	payload, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("% x\n", payload)

	var decoded clr.GCStartV1
	n, err := decoded.DecodePayload(payload, etw.Ptr64)
	fmt.Println(n, err, decoded == e)
	fmt.Println(&decoded)
	// Output:
	// 07 00 00 00 02 00 00 00 01 00 00 00 01 00 00 00 09 00
	// 18 <nil> true
	// GCStart_V1 Count=7 Depth=2 Reason=Induced Type=BackgroundGC ClrInstanceID=9
}

// The tier and the extent of a method's code are in its flags, beside the named
// bits.
func ExampleMethodFlags_Tier() {
	flags := clr.MethodFlagsJitted | 4<<7
	fmt.Println(flags.Tier(), flags.Extent())
	// Output: OptimizedTier1 Hot
}

// See which events that give names to addresses a session will get.
func ExampleSymbolsOf() {
	fmt.Printf("%+v\n", clr.SymbolsOf(clr.KeywordJit|clr.KeywordNGen|clr.KeywordStartEnumeration))
	// Output: {Loader:{Load:false Unload:false} Jitted:{Load:true Unload:false} Precompiled:{Load:true Unload:false} Dynamic:{Load:true Unload:true}}
}

// record makes a record of an event, as a transport would deliver it.
func record(e etw.Event, at time.Duration) *etw.Record {
	payload, err := e.AppendPayload(nil, etw.Ptr64)
	if err != nil {
		panic(err)
	}
	d := e.EventDesc()
	return &etw.Record{
		Provider:    d.Provider.GUID,
		ID:          d.ID,
		Version:     d.Version,
		Level:       d.Level,
		Keywords:    d.Keywords,
		PointerSize: etw.Ptr64,
		Timestamp:   int64(at),
		Clock:       &etw.Clock{Frequency: 1e9},
		Payload:     payload,
	}
}

func recordedCollection() []*etw.Record {
	return []*etw.Record{
		record(&clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendOther}, 0), // a profiler takes a sample
		record(&clr.GCRestartEEEndV1{}, 5*time.Microsecond),
		record(&clr.GCSuspendEEBeginV1{Reason: clr.GCSuspendEEReasonSuspendForGC, Count: 6}, 0),
		record(&clr.GCSuspendEEEndV1{}, 20*time.Microsecond),
		record(&clr.GCStartV2{Count: 7, Depth: 1, Reason: clr.GCReasonAllocSmall}, 30*time.Microsecond),
		record(&clr.GCEndV1{Count: 7, Depth: 1}, 1200*time.Microsecond),
		record(&clr.GCRestartEEEndV1{}, 1250*time.Microsecond),
	}
}

func recordedTypes() []*etw.Record {
	const stringID, arrayID = 0x7ff80010, 0x7ff80020
	values, err := clr.MakeBulkTypeValues(etw.Ptr64,
		clr.BulkTypeValue{TypeID: stringID, CorElementType: clr.CorElementTypeString, Name: etw.MakeUTF16("System.String")},
		clr.BulkTypeValue{
			TypeID: arrayID, Flags: clr.TypeFlagsArray, CorElementType: clr.CorElementTypeSZArray,
			TypeParameterCount: 1, TypeParameters: etw.MakeInts[uint64](stringID),
		},
	)
	if err != nil {
		panic(err)
	}
	return []*etw.Record{
		record(&clr.BulkType{Count: 2, Values: values}, 0),
		record(&clr.GCSampledObjectAllocationHigh{TypeID: arrayID, ObjectCountForTypeSample: 4}, 0),
	}
}
