// Package native names native code by files of symbols: PDB files of Windows, ELF files
// of Linux, the maps that programs which compile at run time write for perf, and the files
// of .NET themselves where they are compiled ahead of time.
//
// A [Dir] is a folder of such files that the user trusts. Which file is of which code
// only its identity says: the GUID and the age of a PDB, the build id of an ELF file, the
// time stamp and PDB of a file of .NET.
// Nothing is ever fetched, and no path of a trace is opened.
package native
