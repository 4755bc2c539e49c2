package manifest

import "github.com/etwgen/etwgen/runtime/etw"

// isSourceMessage reports whether e is the event that each EventSource has.
func isSourceMessage(e *Event) bool { return e.ID == 0 && e.Symbol == "EventSourceMessage" }

// isEventSource reports whether .NET made the manifest of a provider: each has an
// event 0 that no EventSource declares.
func isEventSource(provider *node) bool {
	for s := range provider.children("events") {
		for e := range s.children("event") {
			if e.attr("symbol") == "EventSourceMessage" && e.attr("value") == "0" {
				return true
			}
		}
	}
	return false
}

// selfDescribing returns the fields that a self-describing EventSource writes where
// its manifest declares some: a Boolean takes one byte, and binary data has its
// length before it, which is then no field of its own.
func selfDescribing(declared []*Field) []*Field {
	lengths := make(map[*Field]bool)
	for _, f := range declared {
		switch {
		case f.Type == etw.InBoolean:
			f.Type = etw.InBool8
		case f.Type == etw.InBinary && f.Length.Kind == etw.SizeField:
			lengths[f.Length.Field] = true
			f.Type, f.Length = etw.InCountedBinary, Size{}
		}
	}
	var fields []*Field
	for _, f := range declared {
		if !lengths[f] {
			fields = append(fields, f)
		}
	}
	return fields
}
