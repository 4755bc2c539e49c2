// Package gc follows the garbage collections in a trace of .NET: how long they stopped the
// program, their causes, and the heap that they left. Use it when a .NET program pauses, or
// when its memory grows.
//
//	var mux etw.Mux
//	collections := gc.New(&mux)
//	err := mux.Run(ctx, source)
//	for _, rt := range collections.Result().Runtimes {
//		fmt.Println(rt.PID, rt.Count, rt.PauseMS)
//	}
//
// Records must come in the order of time. The result may be asked for at any time,
// also while records still come.
//
// # Pauses
//
// The base of every pause is the suspension of threads, from the request to suspend
// until they run again, which lives on one thread. Each collection that begins in a
// suspension gets a part of it, up to the start of the next one; one suspension is
// never counted twice. A background collection has a first pause, in which it
// begins, and later ones, and runs beside the program between them. The sampling
// profiler of EventPipe suspends threads too; that is told apart.
//
// # Events to enable
//
// Microsoft-Windows-DotNETRuntime with the keyword GC (0x1) at level 4
// (informational) is enough for all but allocation ticks, pinned and finalized
// objects, which take level 5, and the names of types, which take the keyword Type
// (0x80000). .NET Framework up to 4.5 writes the sizes of heaps to
// Microsoft-Windows-DotNETRuntimePrivate with its keyword GC (0x1).
//
// # Memory
//
// The analysis keeps the data of its result: some hundred bytes for each collection, and 500
// for each of its heaps. Events that are only counted take none. For a live process that is
// watched for days, call [Analysis.Drain] as records come: it hands over the collections
// that are complete, and forgets them. [Analysis.OnPause] tells of each pause as it ends.
package gc
