package html

import (
	"fmt"

	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/findings"
)

// addExceptions adds what is known of exceptions.
func addExceptions(v *view, s *subject, texts *texts) {
	r := s.exceptions
	if r == nil || r.Count == 0 && len(r.Handlers) == 0 {
		return
	}
	v.weight += r.Count
	sec := &section{ID: "exceptions", Title: "Exceptions"}
	lead := count(r.Count, "exception was", "exceptions were") + " thrown"
	if r.Rethrown > 0 {
		lead += fmt.Sprintf(", %s of them again", grouped(float64(r.Rethrown), 0))
	}
	sec.Lead = append(sec.Lead, lead+".")
	if h := r.HandlingMS; h.Count > 0 {
		sec.Lead = append(sec.Lead, fmt.Sprintf("From a throw to the end of its handling it took %s at the median, %s at most, %s in all.", span(h.P50.Or(0)), span(h.Max.Or(0)), span(h.Total)))
	}
	sec.Charts = append(sec.Charts, overTime("thrown", "Exceptions", "", "Thrown", "exception", r.Series, countOnly))
	sec.Tables = append(sec.Tables, exceptionTypes(r, texts), exceptionMessages(r, texts), thrownTable(r, texts))
	if len(r.Handlers) > 0 {
		sec.Tables = append(sec.Tables, handlerTable(r, texts))
	}
	v.add(findings.Exceptions(r))
	if len(r.Types) > 0 {
		v.Tiles = append(v.Tiles, tile{"Exceptions", grouped(float64(r.Count), 0), clean(r.Types[0].Type), "exceptions"})
	}
	v.Sections = append(v.Sections, sec)
}

func exceptionTypes(r *exceptions.Runtime, texts *texts) *table {
	t := &table{ID: "exceptiontypes", Title: "Types", Sort: "count", texts: texts}
	rows := shown(r.Types)
	word(t, rows, column{Key: "type", Label: "Type"}, func(x exceptions.Type) string { return x.Type })
	num(t, rows, column{Key: "count", Label: "Thrown", Share: true}, func(x exceptions.Type) float64 { return float64(x.Count) })
	if r.Rethrown > 0 {
		num(t, rows, column{Key: "rethrown", Label: "Again"}, func(x exceptions.Type) float64 { return float64(x.Rethrown) })
	}
	cutOff(t, len(r.Types))
	return t
}

func exceptionMessages(r *exceptions.Runtime, texts *texts) *table {
	t := &table{ID: "messages", Title: "Messages", Sort: "count", texts: texts}
	rows := shown(r.Messages)
	word(t, rows, column{Key: "type", Label: "Type"}, func(x exceptions.Message) string { return x.Type })
	word(t, rows, column{Key: "message", Label: "Message"}, func(x exceptions.Message) string { return x.Message })
	num(t, rows, column{Key: "count", Label: "Thrown", Share: true}, func(x exceptions.Message) float64 { return float64(x.Count) })
	cutOff(t, len(r.Messages))
	return t
}

func thrownTable(r *exceptions.Runtime, texts *texts) *table {
	t := &table{ID: "throws", Title: "One by one", Time: "at", texts: texts}
	rows := shown(r.Thrown)
	num(t, rows, column{Key: "at", Label: "At", Unit: "s", Digits: 6}, func(x exceptions.Thrown) float64 { return x.AtMS / 1000 })
	num(t, rows, column{Key: "thread", Label: "Thread", ID: true}, func(x exceptions.Thrown) float64 { return float64(x.Thread) })
	word(t, rows, column{Key: "type", Label: "Type"}, func(x exceptions.Thrown) string { return x.Type })
	word(t, rows, column{Key: "message", Label: "Message"}, func(x exceptions.Thrown) string { return x.Message })
	word(t, rows, column{Key: "hresult", Label: "HResult"}, func(x exceptions.Thrown) string { return fmt.Sprintf("0x%08x", uint32(x.HResult)) })
	word(t, rows, column{Key: "flags", Label: "Flags"}, func(x exceptions.Thrown) string { return x.Flags })
	cutOff(t, r.Count)
	return t
}

func handlerTable(r *exceptions.Runtime, texts *texts) *table {
	t := &table{ID: "handlers", Title: "Handlers that ran", Sort: "count", texts: texts}
	rows := shown(r.Handlers)
	word(t, rows, column{Key: "method", Label: "Method"}, func(x exceptions.Handler) string { return x.Method })
	word(t, rows, column{Key: "kind", Label: "Kind"}, func(x exceptions.Handler) string { return x.Kind })
	num(t, rows, column{Key: "count", Label: "Runs", Share: true}, func(x exceptions.Handler) float64 { return float64(x.Count) })
	num(t, rows, column{Key: "ms", Label: "Total", Unit: "ms", Digits: 3}, func(x exceptions.Handler) float64 { return x.MS })
	cutOff(t, len(r.Handlers))
	return t
}
