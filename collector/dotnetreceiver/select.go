package dotnetreceiver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/collector/internal/flow"
	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// text returns what a target was written as.
func (t *Target) text() string {
	switch {
	case t.PID != 0:
		return fmt.Sprintf("{pid: %d}", t.PID)
	case t.Name != "":
		return fmt.Sprintf("{name: %s}", t.Name)
	case t.Container != "":
		return fmt.Sprintf("{container: %s}", t.Container)
	}
	return fmt.Sprintf("{socket: %s}", t.Socket)
}

// wants reports whether a process is one to attach to: never ourselves, and none that
// cannot be reached.
func (w *worker) wants(p *eventpipe.Process) bool {
	if p.PID == os.Getpid() || p.Err != nil {
		return false
	}
	for i := range w.cfg.Targets {
		if w.is(i, p) {
			return true
		}
	}
	if !w.cfg.discovers() {
		return false
	}
	name := nameOf(p)
	wanted, unwanted := w.include.match(name), w.exclude.match(name)
	return wanted && !unwanted
}

// patterns are those of the names of processes.
type patterns struct {
	list    []*regexp.Regexp
	matched flow.Matched
}

// compile fills the patterns, which were checked.
func (p *patterns) compile(place string, texts []string) {
	p.matched = flow.Matched{Place: place, Texts: texts}
	for _, text := range texts {
		re, _ := regexp.Compile(text)
		p.list = append(p.list, re)
	}
}

// match reports whether a pattern means a name.
func (p *patterns) match(name string) bool {
	any := false
	for i, re := range p.list {
		if re != nil && re.MatchString(name) {
			p.matched.Mark(i)
			any = true
		}
	}
	return any
}

// is reports whether a process is what target i asks for.
func (w *worker) is(i int, p *eventpipe.Process) bool {
	t := &w.cfg.Targets[i]
	switch {
	case t.PID != 0:
		return p.PID == t.PID
	case w.names[i] != nil:
		return w.names[i].MatchString(nameOf(p))
	case t.Container != "":
		return strings.HasPrefix(containerOf(p.PID), t.Container)
	}
	return false
}

// nameOf returns what a process is called: its assembly, or its executable.
func nameOf(p *eventpipe.Process) string {
	if p.Assembly != "" {
		return p.Assembly
	}
	return executable(p.CommandLine)
}

// executable returns the name of the program of a command line, or of what it runs.
func executable(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	name := filepath.Base(filepath.ToSlash(strings.Trim(words[0], `"`)))
	if (name == "dotnet" || name == "dotnet.exe") && len(words) > 1 && !strings.HasPrefix(words[1], "-") {
		name = filepath.Base(filepath.ToSlash(strings.Trim(words[1], `"`)))
	}
	return strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".dll")
}

var containerID = regexp.MustCompile(`[0-9a-f]{64}`)

// containerOf returns the id of the container that a process is in, or "".
func containerOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	return containerID.FindString(string(b))
}
