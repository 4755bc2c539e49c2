// Package attach keeps a program attached to the .NET processes that it is about: it finds
// them, has a session in each, tries again after failures, and follows restarts. Use it for
// an agent that runs as long as the machine does; for one process once, package eventpipe
// is enough.
//
//	s := attach.Supervisor{Targets: []attach.Target{{Name: "shop"}}, Log: slog.Default()}
//	err := s.Run(ctx, func(ctx context.Context, p *attach.Process) error {
//		var mux etw.Mux
//		etw.Handle(&mux, func(r *etw.Record, e *clr.AnyGCStart) error { return nil })
//		return p.Run(ctx, &mux)
//	})
//
// [Supervisor.Run] calls the function for each process, in a goroutine of its own, and
// returns when ctx is done and all calls have. A process that ends is let go; the one that
// comes in its place is found at the next look. When the function fails, it is called again,
// later each time. [ErrDetach] leaves a process alone.
//
// # Which processes
//
// A [Target] names them by pid, by a name (of the assembly, of the program, or of the service
// that OTEL_SERVICE_NAME says), by a regular expression of these, by executable, container or
// socket. A zero Target means all. [Find] lists them once, and [Port] is for those that
// connect by themselves.
//
// # The log
//
// The log has each process that is attached to or let go, each that cannot be reached, with
// the reason, and each target that no process is. Status is called when the state of things
// becomes good or bad.
package attach
