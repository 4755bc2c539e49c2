package heap

import "fmt"

// Warnings says which numbers mislead, and why.
func (r *Result) Warnings() []string {
	var list []string
	for _, s := range r.Snapshots {
		if !s.Complete {
			list = append(list, fmt.Sprintf("process %d: the snapshot at %.3f ms is not complete: %d references are missing, and %d events after the gap are left out",
				s.PID, s.AtMS.Or(0), s.MissingReferences, s.LostEvents))
		}
		if s.CutObjects > 0 {
			list = append(list, fmt.Sprintf("process %d: the sizes in the snapshot at %.3f ms add up to 2^63 bytes and more, which no memory has: those of %d objects are cut",
				s.PID, s.AtMS.Or(0), s.CutObjects))
		}
	}
	if r.unmet {
		list = append(list, "no type in the snapshots is called as those whose holders were asked for")
	}
	return list
}
