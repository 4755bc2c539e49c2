// Package fetch finds files of symbols in stores and on servers. It speaks the protocol of
// symbol servers (Microsoft's, NuGet's, Mozilla's and others) and that of debuginfod, and
// reads the folders in which debuggers keep their files. Use it where a trace was made on
// another machine; no other package of analyses reaches for the network.
//
// A [Path] says where files may be, in the words of _NT_SYMBOL_PATH. A [Key] says which
// file: [Keys] makes those of native code. A [Finder] finds the file, asks servers for it
// if none of the folders has it, and keeps it in a store.
//
// Nothing is taken on trust. Servers are asked by https only, a file gets its name in a
// store once it has the identity that was asked for, and its size and its time are bounded
// by [Limits].
package fetch
