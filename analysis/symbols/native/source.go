package native

// A Source is the origin of a name.
type Source uint8

// The sources of names.
const (
	FromNothing Source = iota
	FromPerfMap        // perf-PID.map
	FromDotNet         // a file of .NET that was compiled ahead of time
	FromBundle         // such a file inside of a program that is a single file
	FromELF            // an ELF file or its debug file
	FromPDB
	FromKernel // a list of symbols of the kernel
	FromFrames // an ELF file that has no name, but says where the function begins
)

var sourceNames = [...]string{"none", "perf-PID.map", "files of .NET", "programs of a single file", "ELF files", "PDB files", "kallsyms", "function starts"}

// String returns the source in a few words.
func (s Source) String() string { return sourceNames[s] }
