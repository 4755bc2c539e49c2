// Package eventpipe talks to live .NET processes by their diagnostics port: it lists
// them, records their events as they happen, and gives them the other commands that
// runtimes since .NET Core 3.1 take. Use it to watch or record a .NET process from Go, on
// any system.
//
//	c, err := eventpipe.DialPID(ctx, 1234)
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	s, err := c.Start(ctx, eventpipe.Config{Providers: eventpipe.ForMux(&mux)})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	time.AfterFunc(10*time.Second, func() { s.Stop(ctx) })
//	err = mux.Run(ctx, s)
//
// A [Session] is an [etw.Source], so that whatever works on a recorded trace works on a live
// process. It is an io.Reader of the trace, too: its input is a .nettrace file.
//
// # Ways to a process
//
// [Processes] lists the processes that can be reached, and says why the rest cannot.
// [DialPID] finds the socket of a process, also of one in a container whose pid namespace is
// below ours, [DialSocket] takes its path (on Windows, that of a pipe). With a [Listener] it
// is the other way round: a process that has the path of the listener in its variable
// DOTNET_DiagnosticPorts connects to it, and waits to be resumed before it runs any code of
// its own. [Launch] starts a program that way.
//
// # Commands and the runtime
//
// One thread of the runtime serves all commands, one after the other, with reads that
// block. Whoever connects and sends nothing blocks everybody, and so does a session
// whose end nobody reads. Therefore each command here is written at once, each has a
// deadline (that of its context, otherwise [DefaultTimeout]), and [Session.Stop] does
// not wait for the end of the session, which comes by the stream. A command that
// times out does not mean a dead process: another tool may be in the way.
//
// Runtimes do not check everything that they are sent: some payloads end them. So everything
// is checked here first, and impossible values are never sent.
//
// # Which command
//
// Of several versions of a command the oldest that can carry the request is sent, so that
// old runtimes understand as much as they can. A request for which a runtime is too old is
// an error that errors.Is recognises as errors.ErrUnsupported, and that names the version of
// .NET it takes.
package eventpipe
