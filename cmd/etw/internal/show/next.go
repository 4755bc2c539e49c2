package show

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A Suggestion is a question or a recording to follow, and why. Some are no commands of this
// tool, and are only said.
type Suggestion struct {
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}

// Next returns the suggestion of a command. The files are put behind.
func Next(command, why string) Suggestion { return Suggestion{why, command} }

// Suggest adds a suggestion that is not there yet.
//
//go:noinline
func (a *About) Suggest(command, why string) {
	s := Suggestion{why, command}
	if a != nil && !slices.Contains(a.Next, s) {
		a.Next = append(a.Next, s)
	}
}

// Follow suggests questions after an answer of a command, about the same files.
func (a *About) Follow(cmd *cobra.Command, next ...Suggestion) {
	if cli.IsLive(cmd) {
		return
	}
	files := ""
	for _, path := range cmd.Flags().Args() {
		files += " " + ShellWord(path)
	}
	for _, s := range next {
		a.Suggest(s.Command+files, s.Why)
	}
}

// ShellWord quotes a text that a shell would not take as one word.
func ShellWord(text string) string {
	plain := strings.Trim(text, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:\`) == ""
	if plain && text != "" && !strings.Contains(text, `\`) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
