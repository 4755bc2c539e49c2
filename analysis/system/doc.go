// Package system tells what a trace knows of the machine that it was recorded on: which
// processes, threads and images there were, and when; which files, disks and connections
// were used, and by whom. It reads what the kernel of Windows logs, what .NET runtimes
// and EventPipe tell of their process, and what recorders of Linux tell of all. Use it
// for questions about machines, and beneath analyses that need to know whose an event is.
//
//	var mux etw.Mux
//	machine := system.Of(&mux)
//	etw.Handle(&mux, func(r *etw.Record, e *kernel.AnyPerfInfoSample) error {
//		thread := machine.HasThread(int64(e.ThreadID), r.ProcessID)
//		fmt.Println(thread.TID, e.InstructionPointer)
//		return nil
//	})
//	err := mux.Run(ctx, source)
//
// # One pass
//
// A recording begins with a list of what there is, which may be missing, and ends
// with one, which may be missing, too. In between, things come and go. So a process
// or thread may be met before anything tells its name: it is there all the same, as
// a value that is filled in when something does. Keep pointers to processes,
// threads and files rather than names, and ask for names at the end.
//
// Ids and addresses are used again. Each life of one is a value of its own, with a
// [Lifetime].
//
// # Who asks for what
//
// A [Machine] has processes, threads, images and what the machine is. [Stacks] binds
// call stacks to their events. [Usage] adds up processor time, [Files] what was
// done to files and disks, [Network] connections. Each costs what it does, so that
// only those that are made do. A mux has one Machine, and one Files, which all
// analyses there share.
package system
