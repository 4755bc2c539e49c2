package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/analysis/contention"
	"github.com/etwgen/etwgen/analysis/cpu"
	"github.com/etwgen/etwgen/analysis/exceptions"
	"github.com/etwgen/etwgen/analysis/gc"
	"github.com/etwgen/etwgen/analysis/jit"
	"github.com/etwgen/etwgen/analysis/need"
	"github.com/etwgen/etwgen/analysis/requests"
	"github.com/etwgen/etwgen/analysis/threadpool"
	"github.com/etwgen/etwgen/analysis/waits"
)

// A suggestion is what to ask or to record next, and why. Some are no commands of this
// tool, and are only said.
type suggestion struct {
	Why     string `json:"why"`
	Command string `json:"command,omitempty"`
}

// suggest adds a suggestion that is not there yet.
func (a *about) suggest(command, why string) {
	s := suggestion{why, command}
	if a != nil && !slices.Contains(a.Next, s) {
		a.Next = append(a.Next, s)
	}
}

// follow suggests what is asked after an answer of a command, about the same files.
func (a *about) follow(cmd *cobra.Command) {
	if isLive(cmd) {
		return
	}
	args := cmd.Flags().Args()
	if cmd.Name() == "lines" {
		args = args[:1] // the other one is no file
	}
	files := ""
	for _, path := range args {
		files += " " + shellWord(path)
	}
	for _, s := range followUps[cmd.Name()] {
		a.suggest(s.Command+files, s.Why)
	}
}

// shellWord quotes what a shell would not take as one word.
func shellWord(text string) string {
	plain := strings.Trim(text, `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:\`) == ""
	if plain && text != "" && !strings.Contains(text, `\`) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// followUps say what is asked after an answer that there was. The files are put behind.
var followUps = map[string][]suggestion{
	"stat":       {{"the events themselves, with their fields", "etw dump --limit 20"}, {"what the trace is, and which questions it answers", "etw info"}},
	"dump":       {{"how many events there are of each kind", "etw stat"}},
	"gc":         {{"which types are allocated", "etw allocs"}, {"which code allocates", "etw top --of allocs"}, {"why threads were stopped", "etw gc --by suspension"}},
	"allocs":     {{"which code allocates", "etw top --of allocs"}, {"what the collections of it cost", "etw gc"}},
	"exceptions": {{"which code throws", "etw top --of exceptions"}, {"the call stacks that throw most", "etw stacks --of exceptions --top 5"}},
	"jit":        {{"where the compilations stand in the start", "etw startup"}, {"which code makes methods be compiled", "etw top --of jit"}},
	"contention": {{"which code waits for locks", "etw top --of contention"}, {"whether the thread pool starves of it", "etw threadpool"}},
	"waits":      {{"which code waits", "etw top --of waits"}, {"whether the thread pool starves of it", "etw threadpool"}},
	"threadpool": {{"which code blocks threads", "etw stacks --of waits --top 5"}, {"which locks are contended", "etw contention"}, {"which requests are slow meanwhile", "etw requests"}},
	"heap":       {{"which types are allocated", "etw allocs"}, {"what the collections cost", "etw gc"}},
	"requests":   {{"whether pauses fall into them", "etw gc"}, {"whether they wait for threads", "etw threadpool"}, {"which code is on the stacks", "etw top"}},
	"counters":   {{"what the collections cost", "etw gc"}, {"which requests there are", "etw requests"}},
	"timeline":   {{"the pauses for collections", "etw gc"}, {"on which code the time went", "etw top"}, {"which requests there were", "etw requests"}},
	"lifecycle":  {{"what is loaded and compiled meanwhile", "etw startup"}, {"what happened when", "etw timeline"}},
	"startup":    {{"which methods take long to compile", "etw jit"}},
	"classify":   {{"of which methods the kinds are", "etw classify --by method"}, {"which methods weigh most", "etw top"}},
	"top":        {{"what kinds of work it is", "etw classify"}, {"who calls what weighs most", "etw tree"}, {"whole call stacks", "etw stacks --top 5"}, {"which lines, with portable PDBs", "etw lines --symbols FOLDER"}},
	"tree":       {{"what weighs most by itself", "etw top"}, {"whole call stacks", "etw stacks --top 5"}},
	"stacks":     {{"the same as a tree", "etw tree"}, {"what weighs most by itself", "etw top"}},
	"lines":      {{"the methods", "etw top"}},
	"symbols":    {{"what weighs most", "etw top"}},
	"processes":  {{"what their threads did", "etw threads"}, {"on which code the time went", "etw top"}},
	"threads":    {{"on which code the time went", "etw top"}, {"where threads wait", "etw top --of blocked"}},
	"images":     {{"on which code the time went", "etw top"}},
	"files":      {{"what of it came to disks", "etw disks"}, {"which code reads and writes", "etw top --of files"}},
	"disks":      {{"which code waits for disks", "etw top --of disk"}, {"on which files", "etw files"}},
	"network":    {{"which processes there are", "etw processes"}},
}

// An evidence is what events of a trace make a question worth asking.
type evidence struct {
	need.Need // one of its keywords is wanted, if there are any
	suggestion
}

// evidences are the questions in the order in which they are asked, with the events that
// answer them.
var evidences = []evidence{
	{gc.Needs[0], suggestion{"it has garbage collections: their pauses", "etw gc"}},
	{cpu.Needs[0], suggestion{"it has samples of threads: where the time goes", "etw top"}},
	{need.Need{Provider: "Windows Kernel/PerfInfo"}, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{need.Need{Provider: "Universal.Events"}, suggestion{"it has samples of processors: where the time goes", "etw top"}},
	{exceptions.Needs[0], suggestion{"it has exceptions", "etw exceptions"}},
	{contention.Needs[0], suggestion{"it has contention for locks", "etw contention"}},
	{waits.Needs[0], suggestion{"it has waits", "etw waits"}},
	{threadpool.Needs[0], suggestion{"it has the thread pool: whether it starves", "etw threadpool"}},
	{jit.Needs[0], suggestion{"it has compilations", "etw jit"}},
	{need.Need{Provider: need.CLR, Keywords: 0x8}, suggestion{"it has what is loaded: how the program starts", "etw startup"}},
	{need.Need{Provider: need.CLR, Keywords: 0x100000}, suggestion{"it has a snapshot of the heap", "etw heap"}},
	{need.Need{Provider: requests.Needs[0].Provider}, suggestion{"it has activities: requests and their times", "etw requests"}},
	{need.Need{Provider: "Microsoft.AspNetCore.Hosting"}, suggestion{"it has requests and counters of the web server", "etw requests"}},
	{need.Need{Provider: "System.Runtime"}, suggestion{"it has counters", "etw counters"}},
	{need.Need{Provider: "System.Diagnostics.Metrics"}, suggestion{"it has metrics", "etw counters"}},
	{need.Need{Provider: "Windows Kernel/Thread"}, suggestion{"it has threads of the machine", "etw threads"}},
	{need.Need{Provider: "Windows Kernel/Process"}, suggestion{"it has processes", "etw processes"}},
	{need.Need{Provider: "Universal.System"}, suggestion{"it has processes", "etw processes"}},
	{need.Need{Provider: "Windows Kernel/FileIO"}, suggestion{"it has operations on files", "etw files"}},
	{need.Need{Provider: "Windows Kernel/DiskIO"}, suggestion{"it has operations of disks", "etw disks"}},
	{need.Need{Provider: "Windows Kernel/TcpIp"}, suggestion{"it has connections", "etw network"}},
}

// orient suggests what a trace can be asked that has events of some providers.
func (a *about) orient(providers []*providerCount, file string) {
	for _, e := range evidences {
		if slices.ContainsFunc(providers, e.isMet) {
			a.suggest(e.Command+" "+shellWord(file), e.Why)
		}
	}
}

// isMet reports whether events of a provider are an evidence.
func (e *evidence) isMet(p *providerCount) bool {
	return p.Provider == e.Provider && (e.Keywords == 0 || p.mask&e.Keywords != 0)
}
