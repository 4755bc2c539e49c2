package symbols

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/analysis/internal/paths"
)

// A Native is a place in native code.
type Native struct {
	// Module is the path of the file, "" if it is not known.
	Module string
	// Function is the name of the function, "" if it is not known. If Unnamed, it is made
	// of the address at which the function begins, as in sub_1f20: no file has its name.
	Function string
	Unnamed  bool
	// Type is the type of a method of .NET, with its namespace, by which its Function
	// begins; it is "" for other code. Tier is how much the method was optimized.
	Type, Tier string
	// Offset is how far the place is behind the start of the function, or else of the
	// file: in memory, or, if InFile, in the file itself.
	Offset uint64
	InFile bool
	// NotCode says that the place is known to be in no code: it stands for none.
	NotCode bool
	// VirtualAddress is the address that the file itself gives the place, 0 if the trace
	// does not tell. MapOffset and MapSize are the part of the file that was mapped there.
	VirtualAddress     uint64
	MapOffset, MapSize uint64
	// PDB or BuildID identify the symbols of the file.
	PDB     PDB
	BuildID string
	// TimeDateStamp is when a PE file was linked, or a hash in its place, and ImageSize how
	// much memory it takes: 0 if they are not known.
	TimeDateStamp, ImageSize uint32
	// IL says that the file is known to be one of .NET.
	IL bool
	// From and To are the times in nanoseconds since 1970 between which the address means the same,
	// the second one excluded; both are 0 if it always does.
	From, To int64
}

// Jitted returns the method that a name means in the maps and events of code that was
// compiled at run time, such as void [Shop] Bakery.Oven::Bake(int32)[Tier1].
func Jitted(name string, offset uint64) Native {
	n := Native{Function: name, Offset: offset}
	end := strings.Index(name, "::")
	if end < 0 {
		return n
	}
	close := strings.LastIndex(name[:end], "] ")
	if close < 0 {
		return n
	}
	open := strings.LastIndexByte(name[:close], '[')
	if open < 0 {
		return n
	}
	method := name[close+2:]
	if i := strings.LastIndexByte(method, '['); i > 0 && strings.HasSuffix(method, "]") && i > strings.LastIndexByte(method, ')') {
		method, n.Tier = method[:i], method[i+1:len(method)-1]
	}
	typ, _, _ := strings.Cut(method, "::")
	n.Module, n.Function, n.Type = name[open+1:close], strings.Replace(method, "::", ".", 1), typ
	return n
}

// Method returns the method of .NET that the place is in, of which the name is known and
// nothing else, or one without a name if it is in other code.
func (n *Native) Method() Method {
	if n.Type == "" {
		return Method{}
	}
	m := Method{Namespace: n.Type, Name: n.Function[len(n.Type)+1:], Module: Module{ILPath: n.Module}}
	if i := strings.IndexByte(m.Name, '('); i >= 0 {
		m.Name, m.Signature = m.Name[:i], m.Name[i:]
	}
	return m
}

// Full returns the name with the name of the file, as in ntdll.dll!NtWaitForSingleObject,
// with a ? for a function that is not known.
func (n *Native) Full() string {
	function := cmp.Or(n.Function, "?")
	if n.Module == "" {
		return function
	}
	return n.File() + "!" + function
}

// File returns the name of the file, without its folder.
func (n *Native) File() string { return paths.Base(n.Module) }

// Text returns the name with the offset, as in ntdll.dll!NtClose+0x14, or, if the
// function is not known, ntdll.dll+0x9d4c4. more is added to the offset.
func (n *Native) Text(more uint64) string {
	name := n.Full()
	if n.Function == "" {
		name = n.File()
	}
	return name + "+0x" + strconv.FormatUint(n.Offset+more, 16)
}
