// Package session starts, finds and stops sessions of Event Tracing for Windows, and
// delivers their events as they happen. On other systems everything compiles, and fails
// with an error that errors.Is recognises as errors.ErrUnsupported. Use it to watch or
// record a machine with Windows; for .NET processes, on any system, use package eventpipe.
//
//	s, err := session.Start(ctx, session.Config{Providers: session.ForMux(&mux)})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	time.AfterFunc(10*time.Second, func() { s.Stop(ctx) })
//	err = mux.Run(ctx, s)
//
// A [Session] is an [etw.Source], so that whatever works on a recorded trace works on
// a live session.
//
// # Life
//
// A session belongs to the system, not to the program: it goes on when the program
// dies. [Session.Stop] and [Session.Close] end those that [Start] made. Names that
// Start chooses itself begin with [Prefix] and end with the id of the process, so that
// [Orphans] can tell whose program has ended.
//
// # Two ways of delivery
//
// Windows 11 22H2, Windows Server 2022 and later hand out whole buffers, as they are in
// files: the decoder of package etl reads them. Older systems call back for each event. The
// output is the same. [Config.Delivery] can ask for one.
//
// # Order
//
// A processor has buffers of its own, and they arrive one after the other. Where they
// come whole, records are held until every processor has delivered later ones, or
// until [Config.Window] has passed, and then delivered in the order of time. One that
// comes even later is delivered at once and counted in [Stats.OutOfOrder]. Where Windows
// calls back for each event, it has ordered them.
//
// # Schemas and owners
//
// Facts of events about others, such as the manifests of EventSources, the starts of threads
// and the call stacks of kernel events, are learned when they arrive, and so hold for the
// records that are delivered from then on. A larger Window lets more of them know. See
// packages schema and classic.
//
// # Losses
//
// A reader that is too slow fills the buffers of the session, and then events are lost.
// That happens in three places, all of which [Session.Stats] has: at the programs that
// write, in the delivery, and, if the reader rather has losses than holds the delivery
// up ([Drop]), in our own queue.
//
// # Ends
//
// Stop ends the session; its last events are still to be read, up to io.EOF. Close gives up
// unread events. Both may be called by any goroutine, also in a handler, and more than once,
// whoever has stopped the session meanwhile.
//
// # Permissions
//
// Sessions take an administrator, or a member of the group Performance Log Users; those with
// kernel events an administrator. Errors name the remedy: see [Error].
package session
