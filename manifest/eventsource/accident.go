package eventsource

import "fmt"

// dropAccidents takes accidental events out, with the parts that only they
// need.
func (s *Source) dropAccidents() {
	tasks := make(map[int64]bool)
	maps := make(map[string]bool)
	names := make(map[string]bool)
	var kept, dropped []*Event
	for _, e := range s.Events {
		if e.Accident {
			dropped = append(dropped, e)
			continue
		}
		kept = append(kept, e)
		tasks[e.Task], names[e.Name] = true, true
		for _, f := range e.Fields {
			maps[f.Map] = true
		}
	}
	if len(dropped) == 0 {
		return
	}
	s.Events = kept
	for _, e := range dropped {
		if !names[e.Name] {
			delete(s.strings, "event_"+e.Name)
		}
		if !tasks[e.Task] && s.Tasks[e.Task] == e.Name {
			delete(s.Tasks, e.Task)
			delete(s.strings, "task_"+e.Name)
		}
		s.Notes = append(s.Notes, fmt.Sprintf("method %s is event %d for .NET, but has no [Event] and writes none; it is left out: see --accidents", e.Name, e.ID))
	}
	used := s.Maps[:0]
	for _, m := range s.Maps {
		if maps[m.Name] {
			used = append(used, m)
			continue
		}
		for _, entry := range m.Entries {
			delete(s.strings, "map_"+m.Name+"."+entry.Name)
		}
	}
	s.Maps = used
}
