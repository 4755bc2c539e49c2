package tracepoints

import (
	"fmt"
	"slices"
	"sort"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A member is a field of a structure of C.
type member struct {
	etw.FieldDesc
	offset, size int
}

// common are the members that all records begin with. The first is a number that differs
// from one start of a machine to the next.
var common = []member{
	{etw.FieldDesc{Name: "common_type", Type: etw.InUInt16}, 0, 2},
	{etw.FieldDesc{Name: "common_flags", Type: etw.InUInt8, Out: etw.OutHexInt8}, 2, 1},
	{etw.FieldDesc{Name: "common_preempt_count", Type: etw.InUInt8}, 3, 1},
	{etw.FieldDesc{Name: "common_pid", Type: etw.InInt32}, 4, 4},
}

// text is the type of characters that lie behind the structure.
func text(name string) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InDataLoc, Fields: []etw.FieldDesc{{Type: etw.InChar8, Out: etw.OutUTF8}}}
}

// chars is the type of text in an array.
func chars(name string, size int) etw.FieldDesc {
	return etw.FieldDesc{Name: name, Type: etw.InAnsiString, Out: etw.OutUTF8, Room: uint16(size)}
}

// describe returns the description of an event with some members, whatever their order:
// what lies between two becomes room of the first.
func describe(group, name string, id uint16, members []member) (*etw.EventDesc, error) {
	members = slices.Clone(members)
	sort.SliceStable(members, func(i, j int) bool { return members[i].offset < members[j].offset })
	d := &etw.EventDesc{Provider: &etw.ProviderDesc{Name: group, GUID: guidOf(group)}, ID: id, Name: name, TaskName: name, Named: true, Corrected: true, Padded: true}
	end := 0
	for i, m := range members {
		if m.offset < end || i == 0 && m.offset > 0 {
			return nil, fmt.Errorf("field %s of %s/%s is at %d, where the one before it ends at %d", m.Name, group, name, m.offset, end)
		}
		end = m.offset + m.size
		if i+1 < len(members) && members[i+1].offset > end {
			m.Room = uint16(members[i+1].offset - m.offset)
		}
		d.Fields = append(d.Fields, m.FieldDesc)
	}
	return d, nil
}
