package native

import "github.com/etwgen/etwgen/internal/unwind"

// Stripped files still say how all their code is unwound, and so where each function
// begins and ends.

// frameStarts returns the functions that a file says how to unwind. They have no names.
func frameStarts(x *elfFile) []function {
	var list []function
	if s := x.section(".eh_frame"); s != nil {
		b, err := x.data(s)
		if err != nil {
			return nil
		}
		part := unwind.Section{Bytes: b, Address: s.address, Order: x.order, Wide: x.wide}
		for _, e := range part.Entries() {
			list = append(list, function{at: e.Begin, size: e.Size})
		}
		return list
	}
	for i := range x.segments {
		if s := &x.segments[i]; s.kind == segmentFrames && len(x.sections) == 0 {
			b, err := x.bytes(s.at, s.n)
			if err != nil {
				return nil
			}
			part := unwind.Section{Bytes: b, Address: s.address, Order: x.order, Wide: x.wide}
			for _, begin := range part.Starts() {
				list = append(list, function{at: begin})
			}
			return list
		}
	}
	return nil
}
