// Package profiling takes profiles of live processes of .NET, again and again, at a price
// that a service can pay.
//
// Allocations, exceptions and waits for locks are events each: a session has those of a kind
// all the time, or, if they are many, for a part of each interval. Threads are sampled in
// windows, for which the runtime stops them each millisecond: a window is short, one process
// of a [Machine] has one at a time, those that do nothing have none, and a budget bounds the
// cost of all of them.
//
// The larger part of the cost of a session is the list of all methods at its end. So there
// is absent: another session has learnt of methods as they were compiled, those of a process
// that ran before are named by files where Linux tells of them, and only where that is not
// enough, the list is asked for, once.
package profiling
