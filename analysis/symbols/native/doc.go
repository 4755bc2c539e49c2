// Package native names native code by files of symbols. It reads PDB files of Windows,
// ELF files of Linux, the maps that programs which compile at run time write for perf,
// and the files of .NET themselves where they are compiled ahead of time. Use it where
// stacks have frames that no runtime tells of.
//
// A [Dir] is a folder of such files that the user trusts. [Usual] adds the folders in which
// a machine has its libraries. Which file is of which code only its identity says: the
// GUID and the age of a PDB, the build id of an ELF file, the time stamp and PDB of a file
// of .NET. This package fetches nothing, and opens a path of a trace only in those folders;
// [Elsewhere] is how package fetch hands in files from stores and servers.
//
// # Order
//
// Of several sources of a name the first counts:
//
//   - maps for perf, or jitdumps, of code that a process compiled ([Dir.Jitted])
//   - files of .NET, by the methods that they list, also inside of programs that are a
//     single file
//   - ELF files with the build id, in the folder and in usual ones: their tables of
//     symbols, those that are packed inside, those of the debug files with the same build
//     id, or that they name, and the stubs by which they call other files
//   - PDB files
//   - the list of symbols of a kernel ([Dir.Kernel])
//   - where functions begin, as ELF files say how to unwind them: sub_1f20
package native
