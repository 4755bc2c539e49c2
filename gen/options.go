package gen

// Options say what to generate.
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
	// Lenient settles names that clash with numbers instead of an error, and takes
	// what dumps make of sentences out of names.
	Lenient bool
	// Tests adds a file with tests of the package.
	Tests bool
	// PackageDoc adds a package comment, for a package in which no other file has
	// one.
	PackageDoc bool
}
