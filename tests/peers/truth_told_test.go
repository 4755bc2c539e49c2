package peers

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// tellers are the events of libraries whose values are counted: the provider and the
// name, and the fields, whose texts are put together.
var tellers = map[string][]string{
	"System.Threading.Tasks.TplEventSource TraceOperationBegin": {"OperationName"},
	"System.Threading.Tasks.TplEventSource TaskCompleted":       {"IsExceptional"},
	"Microsoft-Extensions-Logging FormattedMessage":             {"LoggerName", "EventId", "FormattedMessage"},
	"Microsoft.AspNetCore.Hosting RequestStart":                 {"path"},
	"Microsoft-Diagnostics-DiagnosticSource Activity2Start":     {"Arguments"},
	"Microsoft-Diagnostics-DiagnosticSource Activity2Stop":      {"EventName", "Arguments"},
	"Universal.System ExistingProcess":                          {"NamespaceProcessId", "Name"},
	"Universal.System ProcessCreate":                            {"Name"},
}

// addTold counts the values of an event that tells a program's work.
func (s *sheet) addTold(r *etw.Record, provider string, d *etw.Decoder) {
	if _, ok := tellers[provider+" "+d.Event(r).Name]; !ok {
		return
	}
	values, err := d.Decode(r)
	if err != nil || values == nil {
		s.t.Errorf("%s: %s: %v", s.file, provider, err)
		return
	}
	name := values.EventDesc().Name
	text := []string{name}
	for _, field := range tellers[provider+" "+name] {
		v, ok := etw.Field(values, field)
		if !ok {
			s.t.Errorf("%s: %s has no field %s", s.file, name, field)
		}
		text = append(text, v.String())
	}
	s.told[strings.Join(text, " ")]++
}

// tells returns how many events were counted whose text has each of some parts.
func (s *sheet) tells(parts ...string) int {
	n := 0
next:
	for text, count := range s.told {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				continue next
			}
		}
		n += count
	}
	return n
}
