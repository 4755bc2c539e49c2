package tracepoint

import (
	"fmt"
	"slices"
	"sort"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Member is a field of a structure of C.
type Member struct {
	etw.FieldDesc
	Offset, Size int
}

// Common are the members that all records begin with. The first is a number that differs
// from one start of a machine to the next.
var Common = []Member{
	{etw.FieldDesc{Name: "common_type", Type: etw.InUInt16}, 0, 2},
	{etw.FieldDesc{Name: "common_flags", Type: etw.InUInt8, Out: etw.OutHexInt8}, 2, 1},
	{etw.FieldDesc{Name: "common_preempt_count", Type: etw.InUInt8}, 3, 1},
	{etw.FieldDesc{Name: "common_pid", Type: etw.InInt32}, 4, 4},
}

// Text is the type of characters that lie behind the structure.
func Text(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InDataLoc, Fields: []etw.FieldDesc{{Type: etw.InChar8, Out: etw.OutUTF8}}}
}

// Chars is the type of text in an array.
func Chars(name string, size int) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InAnsiString, Out: etw.OutUTF8, Room: uint16(size)}
}

// Describe returns the description of an event with some members, whatever their order: gaps
// between two become room of the first.
func Describe(group, name string, id uint16, members []Member) (*etw.EventDesc, error) {
	members = slices.Clone(members)
	sort.SliceStable(members, func(i, j int) bool { return members[i].Offset < members[j].Offset })
	d := &etw.EventDesc{Provider: &etw.ProviderDesc{Name: group, GUID: etw.NameGUID(group)}, ID: id, Name: name, TaskName: name, Named: true, Corrected: true, Padded: true}
	end := 0
	for i, m := range members {
		if m.Offset < end || i == 0 && m.Offset > 0 {
			return nil, fmt.Errorf("field %s of %s/%s is at %d, where the one before it ends at %d", m.Name, group, name, m.Offset, end)
		}
		end = m.Offset + m.Size
		if i+1 < len(members) && members[i+1].Offset > end {
			m.Room = uint16(members[i+1].Offset - m.Offset)
		}
		d.Fields = append(d.Fields, m.FieldDesc)
	}
	return d, nil
}
