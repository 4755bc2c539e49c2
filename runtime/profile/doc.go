// Package profile reads the profiles that other tools write, into one shape. They are pprof
// and the format of gperftools before it, the files of speedscope and of the Firefox
// Profiler, those of V8 (.cpuprofile), profiles of OpenTelemetry, and folded stacks. Use it
// to hold anybody's profile against a trace, or to look at it with the same questions.
//
// [Read] finds out the format of a file. A [Profile] has samples, each with a stack and with
// weights, as [Profile.Types] say. Frames have names and, where the file has them, lines;
// package profiles of analysis turns it into the input of trees, rankings and exports.
//
// Files are read whole, since names stand behind their users; memory is in proportion to the
// file.
package profile
