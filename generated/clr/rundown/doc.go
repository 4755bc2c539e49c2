// Package rundown has the events of Microsoft-Windows-DotNETRuntimeRundown as Go types: the
// contents of a .NET process when a session starts or ends. Use it to know which methods and
// modules there are, as package symbols of analysis does.
//
// A session that starts while a program runs has missed the events of package
// clr about the code that is there already. To name the addresses in its call
// stacks it needs a rundown: the runtime goes through its methods, modules,
// assemblies, application domains and threads, and writes an event for each. A
// start rundown (DCStart events) happens when a session enables the provider
// with [KeywordStartRundown]; an end rundown (DCEnd events) when one enables it
// with [KeywordEndRundown], which is done last, in a session of its own. The
// end rundown disturbs the measurement less and knows all methods, so prefer
// it: [EnableEnd].
//
// One of the two keywords is needed, but no event has them in its own mask:
// the mask that Mux.Enablement of package etw finds lacks them. [AtStart] and
// [AtEnd] add them, and raise the level to Verbose: below it, most methods come
// without their names, as MethodDCStart and MethodDCEnd. [SymbolsOf] tells which
// events a mask causes.
//
// A rundown of one process begins with [AnyDCStartInit] or [AnyDCEndInit] and ends with
// [AnyDCStartComplete] or [AnyDCEndComplete]; wait for the latter before you end the
// session. The events carry no time of their own: they describe a state, not changes.
//
// As in package clr, decoding allocates nothing, and strings and arrays are views
// of the payload.
package rundown

//go:generate go tool etwgen gen --tests --accessor ClrInstanceID --provider Microsoft-Windows-DotNETRuntimeRundown -o . ../clr.man
