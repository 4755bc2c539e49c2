package symbols

import "strconv"

// A Native is a place in native code.
type Native struct {
	// Module is the path of the file, "" if it is not known.
	Module string
	// Function is the name of the function, "" if it is not known.
	Function string
	// Offset is how far the place is behind the start of the function, or else of the
	// file in memory.
	Offset uint64
}

// Full returns the name with the name of the file, as in ntdll.dll!NtWaitForSingleObject,
// with a ? for a function that is not known.
func (n *Native) Full() string {
	function := n.Function
	if function == "" {
		function = "?"
	}
	if n.Module == "" {
		return function
	}
	return n.File() + "!" + function
}

// File returns the name of the file, without its folder.
func (n *Native) File() string { return baseName(n.Module) }

// Text returns the name with the offset, as in ntdll.dll!NtClose+0x14, or, if the
// function is not known, ntdll.dll+0x9d4c4. more is added to the offset.
func (n *Native) Text(more uint64) string {
	name := n.Full()
	if n.Function == "" {
		name = n.File()
	}
	return name + "+0x" + strconv.FormatUint(n.Offset+more, 16)
}
