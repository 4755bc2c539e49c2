// Package linux records the kernel of Linux: samples of the machine's processors and the
// switches of threads, with call stacks, and the processes and files that they are about.
// Use it for profiles of whole machines, or of programs that are not .NET. It takes root,
// or the right CAP_PERFMON. Elsewhere [Start] returns an error that errors.Is recognises as
// errors.ErrUnsupported.
//
//	s, err := linux.Start(linux.Config{Processes: []int{pid}})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	time.AfterFunc(10*time.Second, s.Stop)
//	var mux etw.Mux
//	machine := system.Of(&mux)
//	err = mux.Run(ctx, s) // until Stop
//
// A [Session] is a source as any other. Its records are the events that recorders of Linux
// write into .nettrace files, of the providers Universal.System and Universal.Events, and
// describe themselves: generated/universal has types for them, the analyses know them, and
// nettrace.Writer writes them to a file.
//
// The kernel writes into one ring of memory for each processor, and the Session puts their
// records in the order of time. Records for which a full ring had no room are counted: see
// [Stats].
package linux
