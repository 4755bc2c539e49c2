package show

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
)

// A Suggestion is what to ask or to record next, and why. Some are no commands of this
// tool, and are only said.
type Suggestion struct {
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}

// Suggest adds a suggestion that is not there yet.
func (a *About) Suggest(command, why string) {
	s := Suggestion{why, command}
	if a != nil && !slices.Contains(a.Next, s) {
		a.Next = append(a.Next, s)
	}
}

// Follow suggests what is asked after an answer of a command, about the same files.
func (a *About) Follow(cmd *cobra.Command) {
	if cli.IsLive(cmd) {
		return
	}
	args := cmd.Flags().Args()
	if cmd.Name() == "lines" {
		args = args[:1] // the other one is no file
	}
	files := ""
	for _, path := range args {
		files += " " + ShellWord(path)
	}
	for _, s := range followUps[cmd.Name()] {
		a.Suggest(s.Command+files, s.Why)
	}
}

// ShellWord quotes what a shell would not take as one word.
func ShellWord(text string) string {
	plain := strings.Trim(text, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:\`) == ""
	if plain && text != "" && !strings.Contains(text, `\`) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// followUps say what is asked after an answer that there was. The files are put behind.
var followUps = map[string][]Suggestion{
	"stat":       {{"the events themselves, with their fields", "etw dump --limit 20"}, {"what the trace is, and which questions it answers", "etw info"}},
	"dump":       {{"how many events there are of each kind", "etw stat"}},
	"gc":         {{"which types are allocated", "etw allocs"}, {"which code allocates", "etw top --of allocs"}, {"why threads were stopped", "etw gc --by suspension"}},
	"allocs":     {{"which code allocates", "etw top --of allocs"}, {"what the collections of it cost", "etw gc"}},
	"exceptions": {{"which code throws", "etw top --of exceptions"}, {"the call stacks that throw most", "etw top --by stack --of exceptions --top 5"}},
	"jit":        {{"where the compilations stand in the start", "etw startup"}, {"which code makes methods be compiled", "etw top --of jit"}},
	"contention": {{"which code waits for locks", "etw top --of contention"}, {"whether the thread pool starves of it", "etw threadpool"}},
	"waits":      {{"which code waits", "etw top --of waits"}, {"whether the thread pool starves of it", "etw threadpool"}},
	"threadpool": {{"which code blocks threads", "etw top --by stack --of waits --top 5"}, {"which locks are contended", "etw contention"}, {"which requests are slow meanwhile", "etw requests"}},
	"heap":       {{"which types are allocated", "etw allocs"}, {"what the collections cost", "etw gc"}},
	"requests":   {{"whether pauses fall into them", "etw gc"}, {"whether they wait for threads", "etw threadpool"}, {"which code is on the stacks", "etw top"}},
	"counters":   {{"what the collections cost", "etw gc"}, {"which requests there are", "etw requests"}},
	"timeline":   {{"the pauses for collections", "etw gc"}, {"on which code the time went", "etw top"}, {"which requests there were", "etw requests"}},
	"startup":    {{"which methods take long to compile", "etw jit"}, {"how far processes came", "etw startup --phases"}},
	"top":        {{"what kinds of work it is", "etw top --by kind"}, {"who calls what weighs most", "etw tree"}, {"whole call stacks", "etw top --by stack --top 5"}, {"which lines, with portable PDBs", "etw lines --symbols FOLDER"}},
	"tree":       {{"what weighs most by itself", "etw top"}, {"whole call stacks", "etw top --by stack --top 5"}},
	"lines":      {{"the methods", "etw top"}},
	"symbols":    {{"what weighs most", "etw top"}},
	"processes":  {{"what their threads did", "etw threads"}, {"on which code the time went", "etw top"}},
	"threads":    {{"on which code the time went", "etw top"}, {"where threads wait", "etw top --of blocked"}},
	"files":      {{"what of it came to disks", "etw files --disks"}, {"which code reads and writes", "etw top --of files"}, {"which code waits for disks", "etw top --of disk"}},
	"network":    {{"which processes there are", "etw processes"}},
}
