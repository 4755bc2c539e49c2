package heap

import "fmt"

// Warnings says which numbers are not what they seem.
func (r *Result) Warnings() []string {
	var list []string
	for _, s := range r.Snapshots {
		if !s.Complete {
			list = append(list, fmt.Sprintf("process %d: the snapshot at %.3f ms is not complete: %d references are missing, and %d events after the gap are left out",
				s.PID, s.AtMS, s.MissingReferences, s.LostEvents))
		}
	}
	return list
}
