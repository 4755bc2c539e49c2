// Package symbols names addresses of code: which method of which module an address was
// in, in a process, at a time. Use it, mostly by package stacks, for everything that has
// addresses.
//
//	var mux etw.Mux
//	s := symbols.New(&mux)
//	err := mux.Run(ctx, source)
//	table := s.Table()
//	fmt.Println(table.Lookup(r.ProcessID, address, r.Time()).Method().Full())
//
// # Where names come from
//
// The .NET runtime says where the code of a method is when it is loaded, and when
// it is unloaded; at the end of a session it lists all methods there are, which is
// called the rundown. Names are given late, when all of that is known. A name holds
// for the life of the method alone: the memory of methods that are gone, such as
// dynamic ones, is soon used by others.
//
// Events to enable: the keywords Loader (0x8), Jit (0x10) and NGen (0x20) of
// Microsoft-Windows-DotNETRuntime at level 5, and those with End (0x100) of
// Microsoft-Windows-DotNETRuntimeRundown, which recorders of EventPipe do unless they are
// told not to.
package symbols
