// Package universal has the events of Universal.System as Go types: events of recorders of
// Linux machines, such as dotnet-trace collect-linux, about processes, of the files in their
// memory, and of functions. Package events beside it has their samples and context switches,
// and package tracepoints describes events of the kernel itself. Use it to read traces of
// whole Linux machines.
//
//	etw.Handle(&mux, func(r *etw.Record, e *universal.AnyProcessMapping) error {
//		fmt.Println(r.ProcessID, e.FileName, e.StartAddress)
//		return nil
//	})
//
// The process of an event is that of the record. Events come when their facts are learnt;
// the mapping or function may have been there before.
//
// All were held against recordings of .NET 10's recorder. Traces declare less of them
// than they have: texts as single bytes, and not all fields of ProcessMapping.
package universal

//go:generate go tool etwgen gen --tests --files one --provider Universal.System -o . universal.man
