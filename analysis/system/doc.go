// Package system describes the machine of a trace: which processes, threads and images there
// were, and when; which files, disks and connections were used, and by whom. It reads the
// events of the kernel of Windows, those of .NET runtimes and EventPipe about their process,
// and those of recorders of Linux about all. Use it for questions about machines, and
// beneath analyses that need to know whose an event is.
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
// A recording begins with a list of processes, threads and images, which may be missing, and
// ends with one, which may be missing, too. In between, things come and go. So a process or
// thread may be met before anything tells its name: it is there all the same, as a value
// that is filled in when something does. Keep pointers to processes, threads and files
// rather than names, and ask for names at the end.
//
// Ids and addresses are used again. Each life of one is a value of its own, with a
// [Lifetime].
//
// # Users of each part
//
// A [Machine] has processes, threads, images and facts about the machine. [Stacks] binds
// call stacks to their events. [Usage] adds up processor time, [Files] the use of files and
// disks, [Network] connections. Only the parts that are made cost time. A mux has one
// Machine, and one Files, which all analyses there share.
package system
