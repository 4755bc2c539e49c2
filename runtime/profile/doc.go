// Package profile reads the profiles that other tools write, into one shape. They are pprof
// and what gperftools wrote before it, the files of speedscope and of the Firefox Profiler,
// those of V8 (.cpuprofile), profiles of OpenTelemetry, and folded stacks. Use it to hold
// anybody's profile against a trace, or to look at it with the same questions.
//
// [Read] finds out what a file is. A [Profile] has samples, each with a stack and with what
// it weighs, as [Profile.Types] say. Frames have names and, where the file has them, lines;
// package profiles of analysis makes of all that what trees, rankings and exports take.
//
// Files are read whole, since names stand behind what they name; what is in memory is in
// proportion to the file.
package profile
