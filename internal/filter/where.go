package filter

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A Where is a condition on the value of a field, such as Size >= 1024.
type Where struct {
	path  []string // of the field: names of structs, then of the member
	op    operator
	text  string
	value operand
}

// An operator compares.
type operator string

// The operators. Those of two characters come first, since the others begin
// them.
var operators = []operator{"==", "!=", "<=", ">=", "!~", "=", "<", ">", "~"}

// An operand is the value that a field is compared with, in all the ways that its text can
// be read.
type operand struct {
	number   number
	isNumber bool
	guid     *etw.GUID      // nil if it is not one
	time     *etw.FileTime  // nil if it is not one
	pattern  *regexp.Regexp // of ~ and !~
}

// ParseWhere reads a condition: the name of a field, an operator and a value.
//
//	Size >= 1024     numbers compare as such, also 0x10 and 1e6
//	Reason = Induced named values compare by name or by number
//	Name ~ ^System   a regular expression, which need not match all of the text
//	Values.Type = 5  a member of a struct; of an array one element must match
//
// The operators are =, ==, !=, <, <=, >, >=, ~ and !~. A value that begins or ends
// with spaces, or is empty, is put in double quotes; there are no escapes.
func ParseWhere(text string) (*Where, error) {
	at, op := findOperator(text)
	if at < 0 {
		return nil, fmt.Errorf("%q has no operator: write field op value, with one of =, !=, <, <=, >, >=, ~, !~", text)
	}
	name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+len(op):])
	w := &Where{path: strings.Split(name, "."), op: op}
	for _, part := range w.path {
		if part == "" || strings.ContainsAny(part, " \t\r\n\"") {
			return nil, fmt.Errorf("%q is not the name of a field", name)
		}
	}
	switch n := len(value); {
	case n >= 2 && value[0] == '"' && value[n-1] == '"':
		value = value[1 : n-1]
	case n == 0:
		return nil, fmt.Errorf("%q has no value; write \"\" for the empty text", text)
	}
	w.text = value
	if w.op == "==" {
		w.op = "="
	}
	return w, w.read()
}

// findOperator returns where the first operator is. Names have none of its
// characters.
func findOperator(text string) (int, operator) {
	at := strings.IndexAny(text, "=!<>~")
	if at < 0 {
		return -1, ""
	}
	for _, op := range operators {
		if strings.HasPrefix(text[at:], string(op)) {
			return at, op
		}
	}
	return -1, ""
}

// read reads the value in all ways.
func (w *Where) read() error {
	if w.op == "~" || w.op == "!~" {
		re, err := regexp.Compile(w.text)
		if err != nil {
			return err
		}
		w.value.pattern = re
		return nil
	}
	w.value.number, w.value.isNumber = parseNumber(w.text)
	if g, err := etw.ParseGUID(w.text); err == nil {
		w.value.guid = &g
	}
	if t, err := time.Parse(time.RFC3339Nano, w.text); err == nil {
		ft := etw.FileTimeOf(t)
		w.value.time = &ft
	}
	return nil
}

// Path returns the name of the field: those of structs, then that of the member.
func (w *Where) Path() []string { return w.path }

// ComparesNumbers reports whether numbers can meet the condition: its value is one, or a pattern.
func (w *Where) ComparesNumbers() bool { return w.value.isNumber || w.value.pattern != nil }

// String returns the condition as ParseWhere reads it.
func (w *Where) String() string {
	return strings.Join(w.path, ".") + " " + string(w.op) + " \"" + w.text + "\""
}

// Match reports whether the event has the field and its value meets the
// condition.
func (w *Where) Match(e etw.Described) bool {
	fields := e.EventDesc().Fields
	for i := range fields {
		if strings.EqualFold(fields[i].Name, w.path[0]) && w.reach(&fields[i], e.FieldValue(i), w.path[1:]) {
			return true
		}
	}
	return false
}

// MatchText reports whether a text meets the condition: as a number, if both are.
func (w *Where) MatchText(text string) bool {
	if w.value.pattern != nil {
		return w.value.pattern.MatchString(text) == (w.op == "~")
	}
	if w.value.isNumber {
		n, ok := parseNumber(text)
		if !ok {
			return w.op == "!="
		}
		order, ok := n.compare(w.value.number)
		return w.ordered(order, ok)
	}
	return w.ordered(strings.Compare(text, w.text), true)
}

// reach follows the rest of the path from the value v of field d.
func (w *Where) reach(d *etw.FieldDesc, v etw.Value, path []string) bool {
	switch v.Kind() {
	case etw.ValueNone:
		return false
	case etw.ValueArray:
		for elem := range v.Elements() {
			if w.reach(d, elem, path) {
				return true
			}
		}
		return false
	case etw.ValueStruct:
		if len(path) == 0 {
			break
		}
		for i, m := range v.Members() {
			if strings.EqualFold(d.Fields[i].Name, path[0]) && w.reach(&d.Fields[i], m, path[1:]) {
				return true
			}
		}
		return false
	}
	return len(path) == 0 && w.holds(d, v)
}

// holds reports whether the value v of field d meets the condition.
func (w *Where) holds(d *etw.FieldDesc, v etw.Value) bool {
	if w.value.pattern != nil {
		return w.value.pattern.MatchString(plain(d, v)) == (w.op == "~")
	}
	return w.ordered(w.compare(d, v))
}

// ordered reports whether a value meets the condition that compares so with the operand.
func (w *Where) ordered(order int, ok bool) bool {
	if !ok { // values that do not compare are different
		return w.op == "!="
	}
	switch w.op {
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

// compare orders v and the operand, and reports false if that makes no sense.
func (w *Where) compare(d *etw.FieldDesc, v etw.Value) (int, bool) {
	if x, ok := numberOf(d, v); ok {
		if w.value.isNumber {
			return x.compare(w.value.number)
		}
		// The name of a value, or its form in text, such as an address.
		if strings.EqualFold(plain(d, v), w.text) {
			return 0, true
		}
		return 0, false
	}
	switch v.Kind() {
	case etw.ValueGUID:
		if w.value.guid == nil {
			return 0, false
		}
		return strings.Compare(v.GUID().String(), w.value.guid.String()), true
	case etw.ValueFileTime:
		if w.value.time == nil {
			return 0, false
		}
		return cmp.Compare(v.FileTime(), *w.value.time), true
	}
	return strings.Compare(plain(d, v), w.text), true
}

// plain returns the text of a value, without quotes.
func plain(d *etw.FieldDesc, v etw.Value) string { return string(etw.AppendFieldPlain(nil, d, v)) }
