// Package unwind finds the callers in a copy of a stack of Linux, by the word of ELF files on how
// their code is unwound: .eh_frame, which all programs have that may throw, and .debug_frame.
// Code of which no file says it, such as that which a runtime compiled, is taken to keep frame
// pointers.
//
// Files and stacks are untrusted: no step takes more than a bounded time, and a stack ends where
// nothing more can be said of it for sure.
package unwind
