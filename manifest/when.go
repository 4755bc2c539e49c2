package manifest

import (
	"strings"

	"github.com/etwgen/etwgen/runtime/etw"
)

// when reads etwgen:when, the condition for a field to be there.
func (l *layout) when(n *node, f *Field) etw.When {
	text, ok := n.extension("when")
	if !ok {
		return etw.When{}
	}
	var w etw.When
	switch text = strings.TrimSpace(text); {
	case text == "ptr4":
		w.Ptr = etw.Ptr32
	case text == "ptr8":
		w.Ptr = etw.Ptr64
	case text == "rest":
		w.Left = 1
	case strings.HasPrefix(text, "rest>="):
		v, _ := parseNumber(strings.TrimPrefix(text, "rest>="), 16)
		w.Left = uint16(v)
	}
	if w == (etw.When{}) {
		l.fail(n, "etwgen:when of field %s is %s; write ptr4, ptr8, rest, or rest>= and a number", quote(f.Name), quote(text))
		return w
	}
	l.checkWhen(n, f, w)
	return w
}

// checkWhen checks that a decoder can tell whether a field is there, and that the output of
// an encoder is read as the same.
func (l *layout) checkWhen(n *node, f *Field, w etw.When) {
	if w.Left > 0 && !l.top {
		l.fail(n, "etwgen:when of field %s is about the rest of the payload, and the field is in a struct; only ptr4 and ptr8 can be there", quote(f.Name))
	}
	if !f.Count.isConstant() || !f.Length.isConstant() {
		l.fail(n, "field %s has an etwgen:when and a size that varies; only one that always takes bytes can have it", quote(f.Name))
		return
	}
	d := etw.FieldDesc{Type: f.Type, Count: (&fieldScope{}).size(f.Count), Length: (&fieldScope{}).size(f.Length)}
	if least, _ := d.Size(etw.Ptr32); int(w.Left) > least {
		l.fail(n, "etwgen:when of field %s asks for %d bytes, where the field takes as little as %d; ask for %[3]d", quote(f.Name), w.Left, least)
	}
}

// isConstant reports whether s is no size or a number.
func (s Size) isConstant() bool { return s.Kind == etw.SizeNone || s.Kind == etw.SizeConst }
