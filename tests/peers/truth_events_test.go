package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A customEvent is an event of a source that a program of the corpus declares.
type customEvent struct {
	source, event string
	values        []any // in the order of the fields
	known         bool  // what fields it has
	related       etw.GUID
	activity      etw.GUID
}

// addCustom keeps marks, and the events of sources that programs know.
func (s *sheet) addCustom(r *etw.Record, provider string, d *etw.Decoder) {
	s.addTold(r, provider, d)
	if provider != "Rec-Marker" && !strings.HasPrefix(provider, "Bakery-") || provider == "Bakery-Flood" {
		return
	}
	values, err := d.Decode(r)
	if err != nil {
		s.t.Errorf("%s: %v", s.file, err)
	}
	if values == nil {
		return
	}
	if provider == "Rec-Marker" {
		if name, ok := etw.Field(values, "name"); ok {
			s.marks[name.Text()] = float64(r.Elapsed().Nanoseconds()) / 1e6
		}
		return
	}
	e := customEvent{source: provider, event: values.EventDesc().Name, related: r.RelatedActivityID, activity: r.ActivityID}
	e.known = len(values.EventDesc().Fields) > 0 || len(r.Payload) == 0
	for i := range values.EventDesc().Fields {
		text := etw.AppendFieldJSON(nil, &values.EventDesc().Fields[i], values.FieldValue(i), etw.EnumNumbers)
		var v any
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			s.t.Errorf("%s: %v", s.file, err)
		}
		e.values = append(e.values, v)
	}
	s.custom = append(s.custom, e)
}

// holdEvents holds each event that the program wrote, in its order, and each value.
// Of some the stream has no fields, only the payload.
func holdEvents(s *truthSheet) {
	at := map[string]int{}
	bySource := map[string][]customEvent{}
	for _, e := range s.custom {
		bySource[e.source] = append(bySource[e.source], e)
	}
	for _, want := range s.Events {
		source, names := s.Sources[want.Source], eventNames(want.Event)
		if len(bySource[source]) == 0 {
			continue // it was not recorded
		}
		for _, name := range names {
			if at[source] == len(bySource[source]) {
				s.is("the event "+name, nil, want.Values)
				break
			}
			e := &bySource[source][at[source]]
			at[source]++
			s.is("the event of "+source, e.event, name)
			if len(names) == 1 && e.known {
				holdValues(s, &want, e)
			}
		}
	}
}

// eventNames returns the names in a note such as "WorkStart x2, WorkStop x2", each as
// often as it came.
func eventNames(note string) []string {
	var names []string
	for part := range strings.SplitSeq(note, ", ") {
		name, times, n := part, "", 1
		if before, after, ok := strings.Cut(part, " x"); ok {
			name, times = before, after
			if _, err := fmt.Sscan(times, &n); err != nil {
				name, n = part, 1
			}
		}
		name, _, _ = strings.Cut(name, " (")
		for range n {
			names = append(names, name)
		}
	}
	return names
}

// holdValues holds the values of an event, and of those after them: activities.
func holdValues(s *truthSheet, want *truthEvent, e *customEvent) {
	for i, v := range want.Values {
		switch text, _ := v.(string); {
		case i < len(e.values):
			s.holds(sameTruth(v, e.values[i]), e.event, e.values[i], v)
		case strings.HasPrefix(text, "activity "):
			s.is(e.event, fmt.Sprintf("activity %v related %v", e.activity, e.related), text)
		case i == len(e.values):
			s.is("the activity of "+e.event, e.activity.String(), text)
		default:
			s.is("the related activity of "+e.event, e.related.String(), text)
		}
	}
}

// sameTruth compares a value with the words of a program: lists are joined by commas,
// long texts told by their length.
func sameTruth(want, got any) bool {
	text, isText := want.(string)
	switch list, isList := got.([]any); {
	case isList && isText:
		var parts []string
		if text != "" {
			parts = strings.Split(text, ",")
		}
		for i := range parts {
			if i >= len(list) || !sameTruth(strings.TrimSpace(parts[i]), list[i]) {
				return false
			}
		}
		return len(parts) == len(list)
	case !isText:
		return same(want, got) == equal
	}
	if pair, ok := got.(map[string]any); ok {
		return text == fmt.Sprintf("%v=%v", pair["Key"], pair["Value"])
	}
	if letter, n, ok := strings.Cut(text, " x "); ok {
		if count := 0; len(letter) == 1 {
			fmt.Sscan(n, &count)
			text = strings.Repeat(letter, count)
		}
	}
	text, _, _ = strings.Cut(text, "\x00b\n") // a text ends at a NUL
	text = strings.NewReplacer("(null is written as empty)", "", "Infinity", "Inf", ".0000000Z", "Z").Replace(text)
	if s, ok := got.(string); ok {
		got = strings.Replace(s, ".0000000Z", "Z", 1)
	}
	return same(text, got) == equal
}
