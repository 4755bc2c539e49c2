package attach

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/etwgen/etwgen/runtime/eventpipe"
)

// A Process is one of .NET, with the names that it goes by.
type Process struct {
	// PID is 0 of a process that was not found by it: Info.PID is as the process sees it.
	eventpipe.Process
	Executable string // the name of its program, or of the assembly that dotnet runs
	Service    string // the name that it gives itself for OpenTelemetry
	Instance   string // service.instance.id, likewise
	Container  string // the id of its container, on Linux

	// Client gives commands to a process that is attached to.
	Client *eventpipe.Client

	run   *run
	guest *guest // if it has come by itself, by a port
	begun bool
}

// String returns the name of the process in messages.
func (p *Process) String() string {
	name := cmp.Or(p.Assembly, p.Executable)
	switch {
	case p.PID == 0 && p.Client != nil:
		return p.Client.String()
	case name == "":
		return "pid " + strconv.Itoa(p.PID)
	}
	return fmt.Sprintf("pid %d (%s)", p.PID, name)
}

// Names returns the names of the process: of its assembly, its program and its service.
func (p *Process) Names() []string {
	list := slices.DeleteFunc([]string{p.Assembly, p.Executable, p.Service}, func(name string) bool { return name == "" })
	return slices.Compact(list)
}

// A Target says which processes are meant: those that are all that it says. A zero Target
// means each process.
type Target struct {
	PID        int
	Name       string         // one of the names, whatever the case
	Pattern    *regexp.Regexp // of one of the names
	Executable string         // the path of the program, or the last part of it
	Container  string         // how its id begins
	Match      func(*Process) bool
	// Socket is a pattern of paths, as [filepath.Match] has them. Processes are found by it
	// alone, and nothing else of the Target counts.
	Socket string
}

// String returns the target's text, such as {name: shop}.
func (t *Target) String() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+": "+value)
		}
	}
	if t.PID != 0 {
		add("pid", strconv.Itoa(t.PID))
	}
	add("name", t.Name)
	if t.Pattern != nil {
		add("name", t.Pattern.String())
	}
	add("executable", t.Executable)
	add("container", t.Container)
	add("socket", t.Socket)
	return "{" + strings.Join(parts, ", ") + "}"
}

// expects reports whether something is wrong if no process is the target.
func (t *Target) expects() bool {
	return t.Socket == "" && (t.PID != 0 || t.Name != "" || t.Pattern != nil || t.Executable != "" || t.Container != "")
}

// Is reports whether a process fits the target.
func (t *Target) Is(p *Process) bool {
	program, names := firstWord(p.CommandLine), p.Names()
	if len(names) == 0 {
		names = []string{""} // which a pattern may match that means all
	}
	return t.Socket == "" &&
		(t.PID == 0 || p.PID == t.PID) &&
		(t.Name == "" || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, plain(t.Name)) })) &&
		(t.Pattern == nil || slices.ContainsFunc(names, t.Pattern.MatchString)) &&
		(t.Executable == "" || program == t.Executable || strings.EqualFold(plain(program), plain(t.Executable)) && !strings.ContainsAny(t.Executable, `/\`)) &&
		strings.HasPrefix(p.Container, t.Container) &&
		(t.Match == nil || t.Match(p))
}

// firstWord returns the program of a command line.
func firstWord(line string) string {
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		word, _, _ := strings.Cut(quoted, `"`)
		return word
	}
	word, _, _ := strings.Cut(line, " ")
	return word
}

// plain returns the name of a file without its folder, and without .exe or .dll.
func plain(path string) string {
	if path == "" {
		return ""
	}
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	switch strings.ToLower(filepath.Ext(name)) {
	case ".exe", ".dll":
		name = name[:len(name)-4]
	}
	return name
}

// executable returns the name of the program of a command line, or of the assembly that
// dotnet runs.
func executable(line string) string {
	first := firstWord(line)
	name := plain(first)
	if name != "dotnet" {
		return name
	}
	for word := range strings.FieldsSeq(line) {
		word = strings.Trim(word, `"`)
		if strings.EqualFold(filepath.Ext(word), ".dll") {
			return plain(word)
		}
	}
	return name
}

// Find lists the processes that a target means, or all, if there are none. One that cannot
// be asked has an Err, which says why, and is listed if it is meant by the system's facts
// about it.
func Find(ctx context.Context, targets ...Target) ([]*Process, error) {
	list, err := new(finder).list(ctx)
	if len(targets) > 0 {
		list = slices.DeleteFunc(list, func(p *Process) bool {
			return !slices.ContainsFunc(targets, func(t Target) bool { return t.Is(p) })
		})
	}
	return list, err
}

// A finder lists processes, and asks each for its environment once.
type finder struct {
	known map[string]*Process
}

const (
	listTimeout = 5 * time.Second
	askTimeout  = 2 * time.Second // for what a list does not tell
)

// list lists all processes, but for this one.
func (f *finder) list(ctx context.Context) ([]*Process, error) {
	listing, end := context.WithTimeout(ctx, listTimeout)
	defer end()
	found, err := eventpipe.Processes(listing)
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var list []*Process
	var wait sync.WaitGroup
	for _, p := range found {
		if p.PID == os.Getpid() {
			continue
		}
		next := &Process{Process: p, Executable: executable(p.CommandLine)}
		list = append(list, next)
		if p.Err != nil {
			continue
		}
		if before := f.known[next.key()]; before != nil && before.CommandLine == p.CommandLine {
			next.Service, next.Instance, next.Container = before.Service, before.Instance, before.Container
			continue
		}
		next.Container = containerOf(p.PID)
		wait.Go(func() {
			if c, err := eventpipe.DialSocket(ctx, p.Socket); err == nil {
				next.service(ctx, c)
			}
		})
	}
	wait.Wait()
	f.known = make(map[string]*Process)
	for _, p := range list {
		if p.Err == nil {
			f.known[p.key()] = p
		}
	}
	return list, err
}

// key returns the key by which the process is known at the next look.
func (p *Process) key() string { return fmt.Sprintf("pid %d %d", p.PID, p.Start.Unix()) }

// service asks the process for its service name of OpenTelemetry.
func (p *Process) service(ctx context.Context, c *eventpipe.Client) {
	env, _ := c.Environment(ctx) // of a runtime that does not tell, there is none
	of := func(key string) string {
		for _, pair := range env {
			if k, v, ok := strings.Cut(pair, "="); ok && k == key {
				return v
			}
		}
		return ""
	}
	p.Service = of("OTEL_SERVICE_NAME")
	for pair := range strings.SplitSeq(of("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		k, v, _ := strings.Cut(pair, "=")
		switch k, v = strings.TrimSpace(k), strings.TrimSpace(v); {
		case k == "service.name" && p.Service == "":
			p.Service = v
		case k == "service.instance.id":
			p.Instance = v
		}
	}
}

var containerID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{64}`) })

// containerOf returns the id of the container that a process is in, or "".
func containerOf(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return ""
	}
	return containerID().FindString(string(b))
}
