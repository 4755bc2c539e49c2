package peers

import (
	"regexp"
	"strings"
)

type peerHeap struct {
	Objects, ObjectEdges int
	Bytes                uint64
	Types                []struct {
		Name   string
		Count  int
		Bytes  uint64
		Pseudo bool
	}
}

func compareHeap(s *sheet) {
	theirs := &s.theirs.Heap
	if theirs.Objects == 0 || len(s.ours.Heap.Snapshots) == 0 {
		return
	}
	ours := s.ours.Heap.Snapshots[0]
	s.equal("objects", ours.Objects, theirs.Objects)
	s.equal("bytes", ours.Bytes, theirs.Bytes)
	if s.info.dependent > 0 {
		s.differs(whyDependent)
	}
	s.equal("references", ours.References-s.info.dependent, theirs.ObjectEdges)
	type sum struct {
		count int
		bytes uint64
	}
	byType := map[string]sum{}
	for _, t := range theirs.Types {
		name, _, _ := strings.Cut(t.Name, " (Bytes > ") // large objects have rows of their own
		if !t.Pseudo {
			byType[name] = sum{byType[name].count + t.Count, byType[name].bytes + t.Bytes}
		}
	}
	for _, t := range ours.Types {
		p := byType[peerName(t.Type)]
		s.equal("count of "+t.Type, t.Count, p.count)
		s.equal("bytes of "+t.Type, t.Bytes, p.bytes)
	}
}

// peerName returns the name that PerfView's graphs give a type: all brackets are
// angle brackets, and whatever is between none becomes an array.
func peerName(name string) string {
	return peerBrackets.Replace(arity.ReplaceAllString(name, ""))
}

var (
	arity        = regexp.MustCompile("`[0-9]+")
	peerBrackets = strings.NewReplacer("[]", "[]", "<>", "[]", "[", "<", "]", ">")
)
