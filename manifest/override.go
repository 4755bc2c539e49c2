package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// noFields is the list of fields of an event that writes none.
const noFields = "none"

// Override sets the payload of an event that differs from its template. The list has the
// fields in the order in which they are written, apart by blanks, as attribute etwgen:fields
// has them: each is the name of a field of the template, which stays as it is, or with
// another type, as in TaskID=win:Int64. Fields that the template lacks need a type; none
// alone is a payload without fields.
func (e *Event) Override(list string) error {
	t := &Template{Pos: e.Pos, ID: cmp.Or(e.Symbol, fmt.Sprint(e.ID)) + "Args"}
	var declared []*Field
	if e.Template != nil {
		t.Pos, t.ID, t.Doc, t.GoName = e.Template.Pos, e.Template.ID, e.Template.Doc, e.Template.GoName
		declared = slices.Clone(e.Template.Fields)
	}
	if slices.ContainsFunc(declared, func(f *Field) bool { return f.Type == etw.InStruct }) {
		return errors.New("the template has a struct, and only fields can be listed")
	}
	words := strings.Fields(list)
	if len(words) == 0 {
		return fmt.Errorf("the list of fields is empty; write %s where there are none", noFields)
	}
	copies := make(map[*Field]*Field)
	for _, word := range words {
		if word == noFields && len(words) == 1 {
			break
		}
		f, err := overridden(word, &declared)
		if err != nil {
			return err
		}
		if err := f.Count.follow(copies); err != nil {
			return fmt.Errorf("count of field %s: %w", f.Name, err)
		}
		if err := f.Length.follow(copies); err != nil {
			return fmt.Errorf("length of field %s: %w", f.Name, err)
		}
		copies[f.from] = f.Field
		t.Fields = append(t.Fields, f.Field)
	}
	t.Declared = len(t.Fields)
	o := &Override{Fields: strings.Join(words, " "), Declared: e.Template}
	if e.Overridden != nil {
		o.Declared = e.Overridden.Declared
	}
	if e.Template, e.Overridden = t, o; len(t.Fields) == 0 {
		e.Template = nil
	}
	return nil
}

// An overriddenField is the copy of a declared field.
type overriddenField struct {
	*Field
	from *Field
}

// overridden makes the field that one word of a list stands for, and takes it from
// those that are declared.
func overridden(word string, declared *[]*Field) (f overriddenField, err error) {
	name, typeName, typed := strings.Cut(word, "=")
	at := slices.IndexFunc(*declared, func(f *Field) bool { return f.Name == name })
	f.Field = &Field{Name: name}
	if at >= 0 {
		f.from = (*declared)[at]
		*f.Field = *f.from
		*declared = slices.Delete(*declared, at, at+1)
	} else if !typed {
		return f, fmt.Errorf("the template has no field %s, or no further one; give its type, as in %s=win:Int64", quote(name), name)
	}
	if !typed {
		return f, nil
	}
	f.Type = cmp.Or(inTypeNames[typeName], extensionTypes[typeName])
	switch {
	case f.Type == etw.InNull:
		return f, fmt.Errorf("unknown type %s of field %s%s", quote(typeName), quote(name), "; use one that Windows defines, such as win:UInt32, or bool8, varint or varuint")
	case f.Type == etw.InBinary && (at < 0 || f.from.Type != etw.InBinary):
		return f, fmt.Errorf("field %s of type %s has no length; only one that is declared has", quote(name), typeName)
	}
	if !slices.Contains(outTypes[f.Type], f.OutType) {
		f.OutType = etw.OutDefault
	}
	if !CanCount(f.Type) {
		f.Map = nil
	}
	if f.Type != etw.InBinary && !isString(f.Type) {
		f.Length = Size{}
	}
	return f, nil
}

// follow makes a count or a length that names a declared field name its copy.
func (s *Size) follow(copies map[*Field]*Field) error {
	if s.Kind != etw.SizeField {
		return nil
	}
	target := copies[s.Field]
	if target == nil {
		return fmt.Errorf("field %s does not come before it; list both", quote(s.Field.Name))
	}
	if s.Field = target; !CanCount(target.Type) {
		return fmt.Errorf("field %s of type %s is no number", quote(target.Name), target.Type)
	}
	return nil
}

// Overrides describe payloads that differ from manifests. They are kept in a file of their
// own, which survives that a manifest is replaced by a newer one. Each line has a provider,
// by name or GUID, an event, by id, by id.version or by symbol, and a list of fields as
// [Event.Override] takes it:
//
//	# C# widens the first argument of both.
//	System.Threading.Tasks.TplEventSource 20 TaskID=win:Int64 Object
//	Microsoft-Build FallbackAssemblyLoadStart none
//
// A name with blanks is in double quotes.
type Overrides struct {
	list []override
}

// An override is a line.
type override struct {
	pos      Pos
	provider string
	guid     etw.GUID // zero if the provider is named
	event    string
	fields   string
}

// OverridesFile returns the name of the file with the overrides of a manifest: that
// of the manifest with .overrides for its extension.
func OverridesFile(manifest string) string {
	return strings.TrimSuffix(manifest, filepath.Ext(manifest)) + ".overrides"
}

// ReadOverrides reads the file with the overrides of a manifest. It returns nil if
// there is none.
func ReadOverrides(manifest string) (*Overrides, error) {
	path := OverridesFile(manifest)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || path == manifest {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseOverrides(path, data)
}

// ParseOverrides reads overrides. Places are in a file with the given name.
func ParseOverrides(name string, data []byte) (*Overrides, error) {
	o := new(Overrides)
	var errs ErrorList
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		line, err := parseOverride(text)
		line.pos = Pos{File: name, Line: n, Col: 1}
		if err != nil {
			errs = append(errs, &Error{Pos: line.pos, Msg: err.Error()})
			continue
		}
		o.list = append(o.list, line)
	}
	return o, errs.err()
}

func parseOverride(text string) (o override, err error) {
	rest := text
	if text[0] == '"' {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return o, errors.New("the name of the provider has no closing quote")
		}
		o.provider, _ = strconv.Unquote(quoted)
		rest = text[len(quoted):]
	} else {
		i := strings.IndexAny(text+" ", " \t")
		o.provider, rest = text[:i], text[i:]
	}
	words := strings.Fields(rest)
	if len(words) < 2 {
		return o, errors.New("a line has a provider, an event and the fields that it writes, or none")
	}
	o.event, o.fields = words[0], strings.Join(words[1:], " ")
	if guid, err := etw.ParseGUID(o.provider); err == nil {
		o.guid = guid
	}
	return o, nil
}

// of returns the override of an event, or nil.
func (o *Overrides) of(p *Provider, e *Event) *override {
	if o == nil {
		return nil
	}
	id := strconv.FormatUint(uint64(e.ID), 10)
	for i := range o.list {
		l := &o.list[i]
		if l.guid.IsZero() && !strings.EqualFold(l.provider, p.Name) || !l.guid.IsZero() && l.guid != p.GUID {
			continue
		}
		if l.event == id || l.event == e.Symbol || l.event == fmt.Sprintf("%s.%d", id, e.Version) {
			return l
		}
	}
	return nil
}

// override applies etwgen:fields to an event, or the overrides of the options, which take
// precedence.
func (p *providerParser) override(n *node, what string, e *Event) {
	list, ok := n.extension("fields")
	o := p.opts.Overrides.of(p.prov, e)
	if o != nil {
		list, ok = o.fields, true
		p.overrides[o] = true
	}
	if !ok {
		return
	}
	switch err := e.Override(list); {
	case err == nil:
	case o != nil:
		p.errors = append(p.errors, &Error{Pos: o.pos, Msg: err.Error()})
	default:
		p.fail(n, "etwgen:fields of %s: %v", what, err)
	}
}

// reportOverrides warns about overrides of events that there are not.
func (p *parser) reportOverrides() {
	if p.opts.Overrides == nil {
		return
	}
	for i := range p.opts.Overrides.list {
		if o := &p.opts.Overrides.list[i]; !p.overrides[o] {
			p.warnings = append(p.warnings, &Error{Pos: o.pos,
				Msg: fmt.Sprintf("the manifest has no event %s of provider %s; correct the line, or remove it", quote(o.event), quote(o.provider))})
		}
	}
}
