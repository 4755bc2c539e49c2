package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A kernel is the contents of the tables.
type kernel struct {
	tasks   []*task
	layouts []*layout
	maps    []*valueMap
	flags   []enableFlag
	systems []*system
	docs    *docs
	strings []string // ids and texts of messages, in turn
}

// A task is a class of events.
type task struct {
	name, guid string
	perfview   string // PerfView's name of the class
	opcodes    []*opcode
	flags      []enabler
}

// A enabler turns on some opcodes of a task.
type enabler struct{ name, opcodes string }

// An enableFlag is one of a session's EnableFlags, or a group of events, which has the
// number of a word of the group masks in its upper three bits.
type enableFlag struct {
	name  string
	value uint32
}

// enables reports whether f is one of the EnableFlags.
func (f enableFlag) enables() bool { return strings.HasPrefix(f.name, enablePrefix) }

const enablePrefix = "EVENT_TRACE_FLAG_"

// A system is one of the providers of Windows 11 that log kernel events.
type system struct {
	name, guid string
	keywords   []keyword
}

type keyword struct {
	name string
	mask uint64
}

// An opcode is an event, in all its versions.
type opcode struct {
	task     *task
	value    int
	mof      string // its name in MOF, or made of the kernel's name for it
	perfview string // Task/Opcode as PerfView has it, or ""
	name     string // ours
	flags    []string
	stack    string // xperf's name of it for stacks, or ""
	versions []version
}

// A version is one layout of an event.
type version struct {
	number   int
	layout   string
	verified bool // by the bytes of a trace
}

// A layout is a list of fields.
type layout struct {
	name   string
	task   string
	fields []*column
}

// A column is a field of a layout, or a member of one.
type column struct {
	name, typ, count, condition, mapName, note string
	members                                    []*column
}

// A valueMap names values or bits.
type valueMap struct {
	name    string
	bits    bool
	entries []entry
}

type entry struct {
	value uint32
	name  string
}

// A row is a line of a table by the names of its columns.
type row map[string]string

// readTable reads a file of lines with fields between tabs, the first of which
// names the columns.
func readTable(dir, name string) ([]row, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	var columns []string
	var rows []row
	for s.Scan() {
		cells := strings.Split(s.Text(), "\t")
		if columns == nil {
			columns = cells
			continue
		}
		r := row{}
		for i, c := range columns {
			if i < len(cells) {
				r[c] = cells[i]
			}
		}
		rows = append(rows, r)
	}
	return rows, s.Err()
}

// readKernel reads all tables.
func readKernel(dir string) (*kernel, error) {
	k := &kernel{}
	providers, err := readTable(dir, "kernel-providers.tsv")
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*task)
	for _, r := range providers {
		if r["guid"] == "" {
			continue
		}
		t := byName[r["task"]]
		if t == nil {
			t = &task{name: r["task"], guid: r["guid"], perfview: r["perfview_task"]}
			byName[t.name] = t
			k.tasks = append(k.tasks, t)
		}
		if r["flag"] != "" {
			t.flags = append(t.flags, enabler{r["flag"], r["opcodes"]})
		}
	}
	if err := k.readEvents(dir, byName); err != nil {
		return nil, err
	}
	if err := k.readFields(dir); err != nil {
		return nil, err
	}
	if err := k.readMaps(dir); err != nil {
		return nil, err
	}
	if err := k.readFlags(dir); err != nil {
		return nil, err
	}
	return k, k.readSystems(dir)
}

// readFlags reads the flags and groups, which are maps as well.
func (k *kernel) readFlags(dir string) error {
	rows, err := readTable(dir, "kernel-flags.tsv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		v, err := strconv.ParseUint(r["value"], 0, 32)
		if err != nil {
			return fmt.Errorf("kernel-flags.tsv: %w", err)
		}
		f := enableFlag{r["name"], uint32(v)}
		k.flags = append(k.flags, f)
		if f.enables() {
			k.addValue("Flags", entry{f.value, f.name})
		} else {
			k.addValue("Group", entry{f.value, f.name})
		}
	}
	return nil
}

// addValue adds a value to a map.
func (k *kernel) addValue(name string, e entry) {
	for _, m := range k.maps {
		if m.name == name {
			m.entries = append(m.entries, e)
			return
		}
	}
	k.maps = append(k.maps, &valueMap{name: name, bits: name == "Flags", entries: []entry{e}})
}

// readSystems reads the providers of Windows 11.
func (k *kernel) readSystems(dir string) error {
	rows, err := readTable(dir, "kernel-system-providers.tsv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if n := len(k.systems); n == 0 || k.systems[n-1].name != r["provider"] {
			k.systems = append(k.systems, &system{name: r["provider"], guid: r["guid"]})
		}
		if r["value"] == "" {
			continue // only the name of the keyword is known
		}
		mask, err := strconv.ParseUint(r["value"], 0, 64)
		if err != nil {
			return fmt.Errorf("kernel-system-providers.tsv: %w", err)
		}
		s := k.systems[len(k.systems)-1]
		s.keywords = append(s.keywords, keyword{r["keyword"], mask})
	}
	return nil
}

// readEvents reads the opcodes of the tasks.
func (k *kernel) readEvents(dir string, tasks map[string]*task) error {
	rows, err := readTable(dir, "kernel-events.tsv")
	if err != nil {
		return err
	}
	for _, r := range rows {
		t := tasks[r["task"]]
		if t == nil {
			return fmt.Errorf("kernel-events.tsv: task %s has no class", r["task"])
		}
		o := &opcode{task: t, mof: r["name"], perfview: r["perfview"]}
		if o.value, err = strconv.Atoi(r["opcode"]); err != nil {
			return fmt.Errorf("kernel-events.tsv: %w", err)
		}
		if r["flags"] != "" {
			o.flags = strings.Split(r["flags"], ",")
		}
		if name, _, _ := strings.Cut(r["stackwalk_name"], " ("); isName(name) {
			o.stack = name
			hook, err := strconv.ParseUint(r["hook"], 0, 16)
			if err != nil {
				return fmt.Errorf("kernel-events.tsv: %w", err)
			}
			k.addValue("StackWalkEvent", entry{uint32(hook), name})
		}
		if err := o.addVersions(r); err != nil {
			return err
		}
		t.opcodes = append(t.opcodes, o)
	}
	for _, t := range k.tasks {
		nameOpcodes(t)
	}
	return nil
}

// addVersions reads the versions of an opcode and their layouts.
func (o *opcode) addVersions(r row) error {
	if r["versions"] == "-" {
		return nil // only its name is known
	}
	for _, pair := range strings.Split(r["layouts"], ",") {
		number, layout, _ := strings.Cut(pair, ":")
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("kernel-events.tsv: %w", err)
		}
		seen := strings.Contains(r["evidence"], "bytes") && strings.Contains(r["evidence"]+" ", "v"+number+" ")
		o.versions = append(o.versions, version{n, layout, seen})
	}
	return nil
}

// readFields reads the layouts.
func (k *kernel) readFields(dir string) error {
	rows, err := readTable(dir, "kernel-fields.tsv")
	if err != nil {
		return err
	}
	byName := make(map[string]*layout)
	for _, r := range rows {
		l := byName[r["layout"]]
		if l == nil {
			l = &layout{name: r["layout"], task: r["task"]}
			byName[l.name] = l
			k.layouts = append(k.layouts, l)
		}
		c := &column{name: r["name"], typ: r["type"], count: r["count"], condition: r["condition"], mapName: r["map"], note: r["note"]}
		if in, name, ok := strings.Cut(c.name, "."); ok {
			outer := l.fields[len(l.fields)-1]
			if outer.name != in {
				return fmt.Errorf("kernel-fields.tsv: %s.%s does not follow %s", l.name, c.name, in)
			}
			c.name = name
			outer.members = append(outer.members, c)
			continue
		}
		if c.typ != "none" {
			l.fields = append(l.fields, c)
		}
	}
	return nil
}

// readMaps reads the names of values.
func (k *kernel) readMaps(dir string) error {
	rows, err := readTable(dir, "kernel-maps.tsv")
	if err != nil {
		return err
	}
	var m *valueMap
	for _, r := range rows {
		if m == nil || m.name != r["map"] {
			m = &valueMap{name: r["map"], bits: r["kind"] == "bit"}
			k.maps = append(k.maps, m)
		}
		v, err := strconv.ParseUint(r["value"], 0, 32)
		if err != nil {
			return fmt.Errorf("kernel-maps.tsv: %w", err)
		}
		m.entries = append(m.entries, entry{uint32(v), r["name"]})
	}
	return nil
}
