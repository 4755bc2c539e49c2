package pick

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/internal/filter"
	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
	"github.com/etwgen/etwgen/runtime/schema"
)

// shownKinds is how many kinds of events a message names.
const shownKinds = 8

// ReportNone names the events that are there if filters left nothing. That is an answer,
// unless it was asked for names that nobody knows: then it is the error of a command line
// that makes no sense.
func (s *Selector) ReportNone(cmd *cobra.Command) error {
	if !s.Given || s.chosen > 0 || cmd.Context().Err() != nil {
		return nil
	}
	if s.fitting == 0 && s.met != nil {
		if err := s.met(); err != nil {
			return err
		}
	}
	seen := order.Delete(slices.Clone(s.Seen), func(e seenEvent) bool { return e.Count == 0 })
	if len(seen) == 0 {
		return nil
	}
	order.Stable(seen, func(a, b seenEvent) int { return cmp.Compare(b.Count, a.Count) })
	named := order.Delete(slices.Clone(seen), func(e seenEvent) bool { return !s.isNamed(e) })
	switch {
	case s.fitting > 0 && s.missingField(seen) != "":
		return cli.Usagef("--where: no event has a field %q, of %d that passed the other filters: %s", s.missingField(seen), s.fitting, kinds(seen, named))
	case s.fitting > 0:
		cli.Report(cmd, fmt.Errorf("no event met the condition of --where; %d events passed the other filters: %s", s.fitting, kinds(seen, named)))
	case len(s.Header.Events)+len(s.Header.Providers) > 0 && len(named) == 0 && !s.isKnown():
		return cli.Usagef("no event has such a name or provider%s; there are %s", s.similar(seen), kinds(seen, seen))
	case len(s.Header.Events)+len(s.Header.Providers) > 0 && len(named) == 0:
		cli.Report(cmd, fmt.Errorf("the trace has no event of this name or provider%s; there are %s", s.similar(seen), kinds(seen, seen)))
	default:
		cli.Report(cmd, fmt.Errorf("no event passed all filters; before those of processes, times and the like there are %s", kinds(seen, named)))
	}
	return nil
}

// isKnown reports whether the tool knows events that the filters of names are for, or
// with filters of providers alone some of these. A GUID is no name that could be wrong.
func (s *Selector) isKnown() bool {
	names := filter.Header{Providers: s.Header.Providers, Events: s.Header.Events}
	for _, p := range append(BuiltinProviders(), s.Known...) {
		if slices.ContainsFunc(p.Events, names.MatchDesc) {
			return true
		}
	}
	if len(s.Header.Events) > 0 {
		return false
	}
	if slices.ContainsFunc(s.Header.Providers, func(p filter.Provider) bool { return p.Name == "" }) {
		return true
	}
	for guid, name := range schema.ProviderNames() {
		if slices.ContainsFunc(s.Header.Providers, func(p filter.Provider) bool { return p.Match(name, guid) }) {
			return true
		}
	}
	return false
}

// missingField returns a field of a condition that no event has, "" if there is
// none.
func (s *Selector) missingField(seen []seenEvent) string {
	var descs []*etw.EventDesc
	for _, e := range seen {
		if e.Desc != nil {
			descs = append(descs, e.Desc)
		}
	}
	for _, w := range s.Wheres {
		if unknown, ok := s.check(w, descs).(*filter.UnknownField); ok {
			return unknown.Name
		}
	}
	return ""
}

// isNamed reports whether the filters of names let an event through.
func (s *Selector) isNamed(e seenEvent) bool {
	return len(s.Header.Events)+len(s.Header.Providers) == 0 || s.Header.Named(&etw.Record{}, e.EventInfo)
}

// similar returns a question for a name that is like one of those that were asked
// for.
func (s *Selector) similar(seen []seenEvent) string {
	var names []string
	for _, e := range seen {
		names = append(names, filter.Names(&etw.Record{}, e.EventInfo)...)
	}
	for _, p := range s.Header.Events {
		if question := cli.DidYouMean(p.String(), names); question != "" {
			return question
		}
	}
	names = names[:0]
	for _, e := range seen {
		names = append(names, e.Provider)
	}
	for _, p := range s.Header.Providers {
		if question := cli.DidYouMean(string(p.Name), names); question != "" {
			return question
		}
	}
	return ""
}

// kinds lists kinds of events, the most frequent ones. Providers are named if
// there are several.
func kinds(all, list []seenEvent) string {
	if len(list) == 0 {
		list = all
	}
	several := slices.ContainsFunc(list, func(e seenEvent) bool { return e.Provider != list[0].Provider })
	var names []string
	for i, e := range list {
		if i == shownKinds && len(list) > shownKinds+1 {
			names = append(names, fmt.Sprintf("%d more kinds", len(list)-i))
			break
		}
		name := e.Name
		if several {
			name = BriefTitle(e.EventInfo)
		}
		names = append(names, fmt.Sprintf("%s (%d)", name, e.Count))
	}
	return strings.Join(names, ", ")
}

// CheckFields checks the fields of the conditions against the known events that the filters
// choose: from the tool, from manifests, and from the trace, of which some were looked at.
// If that was not all, a field may yet come.
func (s *Selector) CheckFields(met []*etw.EventDesc, whole bool) error {
	if len(s.Wheres) == 0 {
		return nil
	}
	descs := s.Candidates(met, whole)
	for _, w := range s.Wheres {
		if err := s.check(w, descs); err != nil && (whole || !unknownField(err)) {
			return cli.Usagef("--where: %s", ExplainField(err))
		}
	}
	return nil
}

// Candidates returns the descriptions of the events that the filters may choose.
func (s *Selector) Candidates(met []*etw.EventDesc, whole bool) []*etw.EventDesc {
	if whole && len(met) > 0 {
		return met
	}
	descs := slices.Clone(met)
	for _, p := range append(BuiltinProviders(), s.Known...) {
		for _, d := range p.Events {
			if s.Header.MatchDesc(d) {
				descs = append(descs, d)
			}
		}
	}
	return descs
}

func unknownField(err error) bool {
	_, ok := err.(*filter.UnknownField)
	return ok
}

// ExplainField adds to an error about a field the fields that there are.
func ExplainField(err error) string {
	unknown, ok := err.(*filter.UnknownField)
	if !ok {
		return err.Error()
	}
	text := err.Error() + " among those that the filters choose" + cli.DidYouMean(unknown.Name, unknown.Known)
	if n := len(unknown.Known); n > 0 && n <= 30 {
		text += "; there are " + strings.Join(unknown.Known, ", ")
	}
	return text
}

// KnowsFields reports whether the tool knows the fields of all conditions without
// a look into the trace.
func (s *Selector) KnowsFields() bool {
	if len(s.Wheres) == 0 {
		return true
	}
	descs := s.Candidates(nil, false)
	return !slices.ContainsFunc(s.Wheres, func(w *filter.Where) bool { return s.check(w, descs) != nil })
}
