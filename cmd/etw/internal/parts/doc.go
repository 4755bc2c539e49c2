// Package parts has commands take a trace that is a part of another one, by processes, threads, time
// or activities, as that one with the flags that chose it.
package parts
