// Package provider writes typed events: to ETW on Windows, and anywhere to files,
// channels and memory. Use it to have a program of yours log events that a manifest
// declares.
//
//	var shopProvider = provider.New(shop.Provider.Desc)
//
//	func main() {
//		if err := shopProvider.Register(); err != nil {
//			log.Print(err) // nothing is written; all calls stay harmless
//		}
//		defer shopProvider.Close()
//		shopProvider.Write(ctx, &shop.OrderStart{Number: 7})
//	}
//
// Most of the time no session wants an event. Enabled says so in about a nanosecond,
// for whoever has to work for the fields of one; Write asks it by itself. An event
// that is written takes one call of Windows, and Write allocates nothing, neither for
// the event nor for its payload.
//
// # Sessions in the process
//
// Systems other than Windows have no ETW, and tests want none. There a [Local] stands
// in for it: a session in the process that hands records to a [Sink].
//
//	var events provider.Memory
//	p := provider.New(shop.Provider.Desc, provider.To(provider.NewLocal(&events)))
//
// A Sink is whatever takes records: [Memory] and [Channel] of this package, or a writer
// of .etl or .nettrace files. The records are those that a session or a reader of files
// would deliver, so that a Mux with handlers can be tested without Windows.
//
// # Activities
//
// Windows keeps the current activity for each thread, which means nothing to a
// goroutine. Here it is in the context: [NewActivity] makes one, and Write gives its id
// to events. The first event of an activity, one with the opcode Start, also gets the
// id of the activity around it.
//
// # Which events
//
// A provider writes events of manifests. Those of a self-describing EventSource have no
// manifest; package tracelogging writes such events from structs of Go. Classic events,
// those of the kernel among them, belong to a [Classic] provider: the older interface of
// ETW, in which an event has a class and a type. Its events come as a session of the same
// kind delivers them for the kernel's own events, except that the kernel did not write it:
// it is for replaying recordings and for tests. Sessions deliver it only if they enabled the
// provider, and without the activity.
package provider
