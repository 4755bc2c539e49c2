package view

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
)

// A question is a command that the page can ask.
type question struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Group string   `json:"group"`
	Flags []option `json:"flags"`
	// Symbols says that it has the flags of symbols, which the user who started the server set.
	Symbols bool `json:"symbols,omitempty"`
}

// An option is a flag of a question.
type option struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"` // bool, int, string and so on
	About string   `json:"about"`
	OneOf []string `json:"oneOf,omitempty"`
	Trace bool     `json:"trace,omitempty"` // its value is the number of a file
	Side  bool     `json:"side,omitempty"`  // it turns the question to another side
}

// besides are the questions that assistants ask in another way.
var besides = []string{"info"}

// questionsOf returns the questions of a command: those about traces. Of their flags it has
// those that choose, and none that names files.
func questionsOf(root *cobra.Command) []question {
	var list []question
	for _, cmd := range root.Commands() {
		if _, ok := cmd.Annotations[cli.Asked]; !ok && !slices.Contains(besides, cmd.Name()) {
			continue
		}
		if cmd.Name() == "events" || cmd.Name() == comparing { // the one needs no trace, the other two
			continue
		}
		list = append(list, questionOf(cmd))
	}
	return list
}

// The commands that are asked in a way of their own, and so are no questions of the list.
const (
	comparing = "compare" // takes two traces
	exporting = "export"  // writes files
)

// questionOf returns the question of a command.
func questionOf(cmd *cobra.Command) question {
	q := question{Name: cmd.Name(), About: cmd.Short, Group: cmd.GroupID, Symbols: cmd.Flags().Lookup("symbol-path") != nil}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if o, ok := optionOf(f); ok {
			q.Flags = append(q.Flags, o)
		}
	})
	if q.Name == comparing {
		q.Flags = append(q.Flags, option{Name: "diff", Kind: "string", About: "compare with this file, a trace of before", Trace: true})
	}
	return q
}

// optionOf returns the option for a flag, if pages may set it.
func optionOf(f *pflag.Flag) (option, bool) {
	kind, ok := desk.Inputs[f.Name]
	if f.Name == "top" || f.Name == "source" { // which assistants do not set: they say how many rows they want
		kind, ok = "", true
	}
	if !ok || f.Hidden || kind == "folder" {
		return option{}, false
	}
	_, usage := pflag.UnquoteUsage(f)
	o := option{Name: f.Name, Kind: f.Value.Type(), About: strings.ReplaceAll(usage, "\n", " "), Trace: kind == "trace"}
	_, o.Side = f.Annotations[cli.Side]
	switch {
	case f.Name == "of":
		o.OneOf = samples.Names()
	case f.Name == "by" && o.Kind == "string":
		o.OneOf = choicesOf(o.About)
	}
	return o, true
}

// choicesOf returns the words that help lists behind a colon.
func choicesOf(about string) []string {
	about, _, _ = strings.Cut(about, ";") // behind which are those of other sides
	_, list, ok := strings.Cut(about, ": ")
	if !ok {
		return nil
	}
	var words []string
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if strings.ContainsAny(word, " :=") { // no list of words alone
			return nil
		}
		words = append(words, word)
	}
	return words
}

// find returns the question of a name, or nil.
func (s *server) find(name string) *question {
	i := slices.IndexFunc(s.questions, func(q question) bool { return q.Name == name })
	if i < 0 {
		return nil
	}
	return &s.questions[i]
}

// names returns the names of the flags.
func (q *question) names() (list []string) {
	for _, o := range q.Flags {
		list = append(list, o.Name)
	}
	return list
}

// option returns the flag of a name, or nil.
func (q *question) option(name string) *option {
	i := slices.IndexFunc(q.Flags, func(o option) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return &q.Flags[i]
}
