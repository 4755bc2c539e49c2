package gen

// Options choose the output.
type Options struct {
	// Package is the name of the Go package.
	Package string
	// Provider chooses one of several providers, by its name, symbol or GUID,
	// or as #1 for the first in the manifest.
	Provider string
	// Rename gives Go names to nodes of the manifest: by the symbol of an
	// event, or by a kind and a name, such as map:GCReasonMap,
	// field:BulkType.Values.Name, entry:GCReasonMap.0x1, keyword:GCKeyword,
	// task:Method or opcode:Method.MethodLoad.
	Rename map[string]string
	// Accessors names fields for which each event that has one gets a method, by
	// which code takes whatever events have it: GetX returns the field X.
	Accessors []string
	// Files is "one" for all events in one file. Otherwise each task has its own.
	Files string
	// Lenient settles names that clash with numbers instead of an error, and takes joined
	// sentences of dumps out of names.
	Lenient bool
	// Tests adds a file with tests of the package.
	Tests bool
	// PackageDoc adds a package comment, for a package in which no other file has
	// one.
	PackageDoc bool
	// Origin, if there is one, is how the package is made again.
	Origin *Origin
}

// An Origin is how a package was made, which it says: whoever has it can make it again, and a
// test of it fails once it is stale.
type Origin struct {
	Command     string // in the folder of the package
	Manifest    string // the file, from there, with slashes; "" if there is no telling where it is
	Fingerprint string // of the manifest
}
