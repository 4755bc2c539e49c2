package main

import (
	"path"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A names knows what processes and threads are called, from the events that say
// so: those of the kernel, of the recorders of Linux and of EventPipe.
type names struct {
	processes map[int64]string
	threads   map[int64]string
	rules     []nameRule // by the index of the event
	ahead     bool       // of the pass that needs the names: see foresee
	met       map[nameID]bool
}

// A nameID is the number of a process or a thread.
type nameID struct {
	thread bool
	id     int64
}

// A nameRule says where an event has a name.
type nameRule struct {
	known  bool
	thread bool // it is of a thread
	id     int  // field with the process or thread, or -1 for that of the record
	name   int  // field with the name, or -1 if there is none
}

// nameFields are the fields that name a process or thread, by the task or name of
// the event, in lower case.
var nameFields = map[string]struct {
	thread   bool
	id, name string
}{
	"process":         {false, "processid", "imagefilename"}, // of the kernel
	"processstart":    {false, "processid", "imagename"},
	"processinfo":     {false, "", "commandline"}, // of EventPipe
	"existingprocess": {false, "", "name"},        // of Linux
	"processcreate":   {false, "", "name"},
	"thread":          {true, "tthreadid", "threadname"},
	"thread/setname":  {true, "threadid", "threadname"},
	"threadsetname":   {true, "threadid", "threadname"},
}

func newNames() *names {
	return &names{processes: make(map[int64]string), threads: make(map[int64]string)}
}

// width returns how many cells the longest name takes, together with a number.
func (n *names) width() int {
	width := 0
	for _, m := range []map[int64]string{n.processes, n.threads} {
		for id, name := range m {
			width = max(width, textWidth(clean(name))+len(strconv.FormatInt(id, 10))+2)
		}
	}
	return width
}

// learn takes the name that a record has, if it has one.
func (n *names) learn(d *etw.Decoder, r *etw.Record, e *etw.EventInfo) {
	for e.Index >= len(n.rules) {
		n.rules = append(n.rules, nameRule{})
	}
	rule := &n.rules[e.Index]
	if !rule.known {
		*rule = findNameRule(e)
	}
	if rule.name < 0 {
		return
	}
	values, _ := d.Decode(r)
	if values == nil {
		return
	}
	name := values.FieldValue(rule.name).String()
	id := r.ProcessID
	if rule.thread {
		id = r.ThreadID
	}
	if rule.id >= 0 {
		if v := values.FieldValue(rule.id); v.Kind() != etw.ValueNone {
			id = int64(v.Uint())
		}
	}
	if id < 0 || n.ahead && !n.first(nameID{rule.thread, id}, starts(r, e)) || name == "" {
		return
	}
	if rule.thread {
		n.threads[id] = name
	} else {
		n.processes[id] = processName(name)
	}
}

// foresee returns names that a pass over a trace learns which is ahead of the one that
// needs them: what processes and threads were called that were there before something
// tells their names, such as the list at the end of a recording. In the second pass the
// names go on learning.
func foresee() *names {
	n := newNames()
	n.ahead, n.met = true, make(map[nameID]bool)
	return n
}

// begin ends the pass that is ahead.
func (n *names) begin() { n.ahead, n.met = false, nil }

// first reports whether nothing was known of an id, and it was there before: it is not
// its start that is met.
func (n *names) first(id nameID, start bool) bool {
	if n.met[id] {
		return false
	}
	n.met[id] = true
	return !start
}

// starts reports whether a record tells that a process or thread comes up.
func starts(r *etw.Record, e *etw.EventInfo) bool {
	const opStart = 1
	return r.Opcode == opStart || e.Name == "ProcessCreate"
}

// findNameRule returns where events like e have a name.
func findNameRule(e *etw.EventInfo) nameRule {
	rule := nameRule{known: true, id: -1, name: -1}
	if e.Desc == nil {
		return rule
	}
	fields, ok := nameFields[strings.ToLower(e.Name)]
	if !ok {
		if fields, ok = nameFields[strings.ToLower(e.Task)]; !ok {
			return rule
		}
	}
	rule.thread = fields.thread
	for i := range e.Desc.Fields {
		switch strings.ToLower(e.Desc.Fields[i].Name) {
		case fields.name:
			rule.name = i
		case fields.id:
			rule.id = i
		}
	}
	return rule
}

// processName returns the name of the program of a command line or a path.
func processName(s string) string {
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		s, _, _ = strings.Cut(quoted, `"`)
	} else if i := strings.Index(s, " "); i > 0 && strings.ContainsAny(s[:i], `/\`) {
		s = s[:i]
	}
	return path.Base(strings.ReplaceAll(s, `\`, "/"))
}
