// Package wpp reads the formats of trace messages (WPP), which drivers and services of Windows
// write in place of events. Use it where a trace has messages that are bytes. A message has a number, the GUID of the source file that it is in,
// and its arguments, one behind the other; its text, level and the types of the arguments are in
// the PDB of the program, or in files made of that, *.tmf:
//
//	f, err := os.Open("driver.tmf")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	providers, err := wpp.ReadTMF(f)
//	if err != nil {
//		return err
//	}
//	decoder := etw.NewDecoder(providers...)
//
// A source file is an [etw.Provider], and each message an event of it, whose fields are the
// arguments: all that works on events works on messages. [AppendMessage] makes the text.
// Package load reads both kinds of files by their paths.
package wpp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/internal/order"
	"github.com/etwgen/etwgen/runtime/etw"
)

// ErrNone says that a file has no formats of messages.
var ErrNone = errors.New("it has no formats of trace messages (WPP)")

// A reader collects formats from their lines.
type reader struct {
	providers []*etw.Provider
	known     map[etw.Key]bool
	keywords  map[string]uint64 // of the flags of control GUIDs

	file   *etw.Provider // the source file that the last line with a GUID names, or nil
	source string        // its name
	format format        // that the lines are in
	inside bool
	flags  map[*etw.EventDesc]string // that messages are enabled by
}

// A format is a message as its lines say.
type format struct {
	name   string
	number uint16
	text   string
	traits map[string]string // LEVEL, FLAGS, FUNC and others
	args   []argument
}

// An argument is one of a message.
type argument struct {
	index int
	field etw.FieldDesc
}

func newReader() *reader {
	return &reader{known: make(map[etw.Key]bool), keywords: make(map[string]uint64), flags: make(map[*etw.EventDesc]string)}
}

var (
	errLine   = errors.New("it is none of the lines that a format has")
	errFormat = errors.New("it is no format such as #typev NAME NUMBER \"TEXT\"")
	errOrphan = errors.New("no line before it names the GUID of the source file")
)

// line reads a line. The function that it is in, "" if that is not known, is that of a format
// that does not say.
func (r *reader) line(text, function string) error {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || strings.HasPrefix(text, "//"):
		return nil
	case strings.HasPrefix(text, "#typev ") || strings.HasPrefix(text, "#type "):
		r.inside = false
		if r.file == nil {
			return errOrphan
		}
		f, err := parseFormat(text)
		if err == nil {
			if f.traits["FUNC"] == "" {
				f.traits["FUNC"] = function
			}
			r.format, r.inside = f, true
		}
		return err
	case text == "{":
		return nil
	case text == "}":
		if r.inside {
			r.finish()
		}
		r.inside = false
		return nil
	case r.inside:
		arg, err := parseArgument(text)
		if err == nil {
			r.format.args = append(r.format.args, arg)
		}
		return err
	}
	return r.head(text)
}

// head reads the line that names a source file.
func (r *reader) head(text string) error {
	text, comment, _ := strings.Cut(text, "//")
	guid, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	id, err := etw.ParseGUID(guid)
	if err != nil {
		return errLine
	}
	r.source = traits(comment)["SRC"]
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(r.providers, func(p *etw.Provider) bool { return p.Desc.GUID == id })
	if i < 0 {
		i = len(r.providers)
		r.providers = append(r.providers, &etw.Provider{Desc: &etw.ProviderDesc{Name: cmp.Or(name, id.String()), GUID: id}})
	}
	r.file = r.providers[i]
	return nil
}

// traits reads words such as LEVEL=TRACE_LEVEL_ERROR.
func traits(text string) map[string]string {
	all := make(map[string]string)
	for _, word := range strings.Fields(text) {
		if key, value, ok := strings.Cut(word, "="); ok && all[strings.ToUpper(key)] == "" {
			all[strings.ToUpper(key)] = value
		}
	}
	return all
}

// parseFormat reads the line that begins a format. The text ends at the last quotation mark
// before a comment: it may have such marks itself.
func parseFormat(line string) (format, error) {
	_, line, _ = strings.Cut(line, " ")
	name, line, _ := strings.Cut(strings.TrimSpace(line), " ")
	number, line, ok := strings.Cut(strings.TrimSpace(line), `"`)
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
	if err != nil || !ok {
		return format{}, errFormat
	}
	end, comment := strings.LastIndex(line, `" //`), ""
	if end >= 0 {
		comment = line[end+4:]
	} else if end = strings.LastIndexByte(line, '"'); end < 0 {
		return format{}, errFormat
	}
	return format{name: name, number: uint16(n), text: line[:end], traits: traits(comment)}, nil
}

// finish makes an event of a format. A message may be there twice, where its function is
// inlined: the first counts.
func (r *reader) finish() {
	f := &r.format
	d := &etw.EventDesc{
		Provider: r.file.Desc, Kind: etw.KindMessage, ID: f.number, Level: levelOf(f.traits["LEVEL"]),
		Name: r.eventName(f), TaskName: f.traits["FUNC"],
	}
	if r.known[d.Key()] {
		return
	}
	r.known[d.Key()] = true
	order.Stable(f.args, func(a, b argument) int { return a.index - b.index })
	places := make(map[int]int)
	for i, arg := range f.args {
		if places[arg.index] == 0 {
			places[arg.index] = i + 1
		}
		d.Fields = append(d.Fields, arg.field)
		if arg.field.Length.Kind == etw.SizeRest {
			break // nobody knows how long it is: those behind it are in it
		}
	}
	d.Message = r.message(f, d, places)
	r.flags[d] = cmp.Or(f.traits["FLAGS"], f.traits["FLAG"])
	r.file.Events = append(r.file.Events, d)
}

// hidden is the symbol of all messages that a PDB for everybody has.
const hidden = "Unknown_cxx00"

// eventName returns the name of a message: the file and the line that its symbol is made of, its
// function and number if that is hidden, or the symbol.
func (r *reader) eventName(f *format) string {
	symbol := f.name
	if symbol == hidden {
		return fmt.Sprintf("%s#%d", cmp.Or(f.traits["FUNC"], r.file.Desc.Name), f.number)
	}
	mangle := func(name string) string { return strings.ReplaceAll(name, ".", "_") } // of all points, or of the last one alone
	if line, ok := strings.CutPrefix(mangle(symbol), mangle(r.source)); ok && r.source != "" {
		if _, err := strconv.Atoi(line); err == nil {
			return r.source + ":" + line
		}
	}
	return symbol
}

// levelOf returns the level of a name. Those of others have none.
func levelOf(name string) etw.Level {
	name = strings.TrimPrefix(name, "TRACE_LEVEL_")
	switch name {
	case "FATAL":
		return etw.LevelCritical
	case "INFORMATION":
		return etw.LevelInformational
	}
	level, _ := etw.ParseLevel(strings.TrimPrefix(name, "RESERVED"))
	return level
}

// result returns the source files with their messages sorted, and the flags of messages as
// keywords where a control GUID says which bits they are.
func (r *reader) result() []*etw.Provider {
	for _, p := range r.providers {
		slices.SortStableFunc(p.Events, func(a, b *etw.EventDesc) int { return int(a.ID) - int(b.ID) })
		for _, d := range p.Events {
			for flag := range strings.SplitSeq(strings.Trim(r.flags[d], "()"), "|") {
				mask := r.keywords[flag]
				if d.Keywords |= mask; mask != 0 && !slices.ContainsFunc(p.Keywords, func(k etw.KeywordDesc) bool { return k.Name == flag }) {
					p.Keywords = append(p.Keywords, etw.KeywordDesc{Name: flag, Mask: mask})
				}
			}
		}
	}
	return r.providers
}
