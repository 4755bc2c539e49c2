package profile

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A perfLine is the head of a sample, as perf script prints it:
//
//	COMM TID or PID/TID [CPU] SECONDS: PERIOD EVENT: DETAILS
//
// The name may have blanks and digits in it, or be empty; a processor and a period may be
// left out, and so may the event.
type perfLine struct {
	thread  Thread
	at      int64  // in nanoseconds since the machine started
	period  int64  // 0 if there is none
	event   string // "" if there is none
	details []byte
}

// maxSeconds bounds the time of a sample, so that it has room in nanoseconds.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// maxName bounds where in a line the numbers of its thread are. Names have 15 bytes in the kernel,
// and are longer only where a tool made them.
const maxName = 80

// readPerfLine reads the head of a sample, up to its event.
func readPerfLine(line []byte) (l perfLine, ok bool) {
	for at := 0; at < min(len(line), maxName); at++ {
		if at > 0 && line[at-1] != ' ' && line[at-1] != '\t' || line[at] < '0' && line[at] != '-' || line[at] > '9' {
			continue
		}
		if rest, ok := l.numbers(line[at:]); ok {
			l.thread.Name = string(bytes.ToValidUTF8(bytes.TrimSpace(line[:at]), []byte("\uFFFD")))
			if l.thread.Process != 0 && l.thread.Process == l.thread.ID {
				l.thread.ProcessName = l.thread.Name
			}
			l.counted(rest)
			return l, true
		}
	}
	return l, false
}

// numbers reads the numbers of a thread, a processor and the time, and returns the rest of the line.
func (l *perfLine) numbers(b []byte) (rest []byte, ok bool) {
	whose, b := word(b)
	process, thread, both := bytes.Cut(whose, []byte("/"))
	if !both {
		process, thread = nil, process
	}
	pid, ok1 := decimal(process)
	tid, ok2 := decimal(thread)
	when, b := word(b)
	if len(when) > 2 && when[0] == '[' {
		if _, ok := decimal(when[1 : len(when)-1]); !ok || when[len(when)-1] != ']' {
			return nil, false
		}
		when, b = word(b)
	}
	seconds, part, dot := bytes.Cut(bytes.TrimSuffix(when, []byte(":")), []byte("."))
	s, ok3 := decimal(seconds)
	ns, ok4 := decimal(part)
	if !ok1 && both || !ok2 || !ok3 || !ok4 || !dot || len(part) > 9 || when[len(when)-1] != ':' || s > maxSeconds {
		return nil, false
	}
	for range 9 - len(part) {
		ns *= 10
	}
	l.thread.Process, l.thread.ID, l.at = max(pid, 0), max(tid, 0), s*secondsToNanos+ns
	return b, true
}

// counted reads the parts behind the time.
func (l *perfLine) counted(b []byte) {
	first, rest := word(b)
	if n, ok := decimal(first); ok && n >= 0 {
		l.period, b = n, rest
		first, rest = word(b)
	}
	if name, ok := bytes.CutSuffix(first, []byte(":")); ok && len(name) > 0 {
		l.event, b = string(bytes.ToValidUTF8(name, []byte("\uFFFD"))), rest
	}
	l.details = bytes.TrimSpace(b)
}

// word returns the first word of b and what follows it.
func word(b []byte) (first, rest []byte) {
	b = bytes.TrimLeft(b, " \t")
	if end := bytes.IndexAny(b, " \t"); end >= 0 {
		return b[:end], b[end:]
	}
	return b, nil
}

func decimal(b []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil && b[0] != '+'
}

// isPerfScript reports whether head begins with a sample, or with the lines that come before
// the first one.
func isPerfScript(head []byte) bool {
	head = bytes.TrimLeft(head, "\r\n")
	if bytes.HasPrefix(head, []byte("# ========")) || bytes.HasPrefix(head, []byte("# captured on")) {
		return true
	}
	line, _ := firstLine(head)
	_, ok := readPerfLine(line)
	return ok && !bytes.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' })
}

// A perfScript reads the text of perf script.
type perfScript struct {
	*Profile
	functions interner[Function]
	modules   interner[string]
	threads   interner[Thread]
	frames    map[Frame]int32
	events    []perfEvent
	samples   []perfSample
	from      int // of places, where the stack of the sample begins
	bad       int // lines that are nothing
	firstBad  int
}

// A perfEvent is one that samples are of.
type perfEvent struct {
	name    string
	counted bool // all of its samples have a period
}

type perfSample struct {
	Sample
	event  int
	period int64
}

// readPerfScript reads samples and their stacks. Each event has values of its own. Times are
// since the machine started, so that of the samples is not known.
func readPerfScript(p *Profile, data []byte) error {
	r := &perfScript{Profile: p, functions: internTo(&p.Functions), modules: internTo(&p.Modules), threads: internTo(&p.Threads), frames: make(map[Frame]int32)}
	first, last, open := int64(math.MaxInt64), int64(0), false
	for number := 1; len(data) > 0; number++ {
		line, rest, ended := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimRight(line, " \t\r")
		if !ended && !bytes.HasSuffix(line, []byte(")")) {
			p.warn("the text ends within line %d", number)
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if l, ok := readPerfLine(line); ok {
			r.stack()
			first, last = min(first, l.at), max(last, l.at)
			if open = r.sample(&l); !open {
				r.left(number)
			}
		} else if !open || line[0] != ' ' && line[0] != '\t' || !r.frame(line) {
			r.left(number)
		}
	}
	r.stack()
	if len(r.samples) == 0 {
		return &formatError{"it begins as the text of perf script does, and no sample is in it"}
	}
	if r.bad > 0 {
		p.warn("%d lines belong to no sample, or to one of more than %d events, and are left out; the first is line %d", r.bad, maxValueTypes/2, r.firstBad)
	}
	p.Duration = last - first
	r.weigh()
	return nil
}

// left counts a line that is left out.
func (r *perfScript) left(number int) {
	if r.bad++; r.bad == 1 {
		r.firstBad = number
	}
}

// sample begins a sample, and reports whether lines with its frames may follow.
func (r *perfScript) sample(l *perfLine) bool {
	e := slices.IndexFunc(r.events, func(e perfEvent) bool { return e.name == l.event })
	if e < 0 {
		if len(r.events) == maxValueTypes/2 {
			return false
		}
		e = len(r.events)
		r.events = append(r.events, perfEvent{l.event, true})
	}
	r.events[e].counted = r.events[e].counted && l.period > 0
	r.samples = append(r.samples, perfSample{Sample{Stack: -1, Thread: r.threads.of(l.thread)}, e, max(l.period, 1)})
	r.from = len(r.places)
	if end := len(l.details); end > 0 && l.details[end-1] == ')' {
		r.frame(l.details[codeAt(l.details):]) // without stacks, the place is in the same line
	}
	return true
}

// codeAt returns where in the details of an event the place in the code begins: with the last
// word that is an address.
func codeAt(b []byte) int {
	at := len(b)
	for i := 0; i < len(b); {
		first, _ := word(b[i:])
		i = len(b) - len(bytes.TrimLeft(b[i:], " \t"))
		if _, err := strconv.ParseUint(string(first), 16, 64); err == nil && (len(first) >= 8 || i == 0) {
			at = i
		}
		i += len(first)
	}
	return at
}

// frame adds the frame of a line: an address, a function and the file with the code, of which
// each may be left out. It reports whether there is one.
func (r *perfScript) frame(line []byte) bool {
	line = bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("\uFFFD"))
	f := Frame{Function: -1, Module: -1, Within: -1}
	if at := moduleAtEnd(line); at >= 0 {
		switch file := string(line[at+1 : len(line)-1]); file {
		case "[unknown]", "inlined":
		case "[kernel.kallsyms]", "[guest.kernel.kallsyms]":
			f.Module = r.modules.of("vmlinux") // as a perf.data names it
		default:
			f.Module = r.modules.of(file)
		}
		line = bytes.TrimSpace(line[:at])
	}
	address, name := word(line)
	var err error
	if f.Address, err = strconv.ParseUint(string(address), 16, 64); err != nil || len(name) == 0 && f.Module < 0 && len(address) < 4 {
		name, f.Address = line, 0
	}
	text := string(bytes.TrimSpace(name))
	if at := strings.LastIndex(text, "+0x"); at > 0 {
		text = text[:at]
	}
	if text != "" && text != "[unknown]" {
		f.Function = r.functions.of(Function{Name: text})
		f.Address = 0 // so that all places in a function are one frame
	}
	number, ok := r.frames[f]
	if !ok {
		number = r.addFrame(f)
		r.frames[f] = number
	}
	r.places = append(r.places, number)
	return len(line) > 0
}

// moduleAtEnd returns where the text in parentheses begins that a line ends with, -1 without.
func moduleAtEnd(line []byte) int {
	depth := 0
	for i, c := range slices.Backward(line) {
		switch c {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if i == 0 || line[i-1] == ' ' || line[i-1] == '\t' {
					return i
				}
				return -1
			}
		}
		if depth == 0 {
			return -1
		}
	}
	return -1
}

// stack ends the stack of the last sample.
func (r *perfScript) stack() {
	if n := len(r.samples); n > 0 && r.samples[n-1].Stack < 0 && len(r.places) > r.from {
		r.samples[n-1].Stack = r.addStack(-1, r.from)
	}
}

// weigh gives each event its type of values, and those that are time the number of samples
// before it, as pprof has it.
func (r *perfScript) weigh() {
	types, time := make([]int, len(r.events)), -1
	for i, e := range r.events {
		base, _, _ := strings.Cut(e.name, ":")
		of := ValueType{cmp.Or(e.name, "samples"), "count"}
		if e.counted && (base == "cpu-clock" || base == "task-clock") {
			count := "samples"
			if time >= 0 {
				count = e.name + " samples"
			}
			r.Types = append(r.Types, ValueType{count, "count"})
			of.Unit = "nanoseconds"
		}
		types[i] = len(r.Types)
		r.Types = append(r.Types, of)
		if isClock := base == "cpu-clock" || base == "task-clock" || base == "cycles" || base == "cpu-cycles"; isClock && time < 0 {
			time = i
		}
	}
	r.Default = types[max(time, 0)]
	for _, s := range r.samples {
		at, weight := types[s.event], int64(1)
		if r.events[s.event].counted {
			weight = s.period
		}
		r.addOne(s.Sample, at, weight)
		if r.Types[at].Unit == "nanoseconds" {
			r.values[len(r.values)-len(r.Types)+at-1] = 1
		}
	}
}
