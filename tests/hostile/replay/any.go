package replay

import (
	"encoding/json"
	"reflect"
	"regexp"

	"github.com/etwgen/etwgen/runtime/etw"
)

// any decodes by the type for all versions and compares with e, which is of the
// version itself. The value is the same for all cases: nothing of one may show
// in the next.
func (c *Checker) any(k *Case, a etw.AnyVersion, e etw.Event) {
	c.cut(k, "any cut", func(p []byte) error { _, err := a.DecodeVersion(k.Version, p, k.Ptr); return err })
	n, err := a.DecodeVersion(k.Version, k.Payload, k.Ptr)
	if !c.same(k, "any", n, err, a) {
		return
	}
	if one, all := etw.AppendText(nil, e), etw.AppendText(nil, a); string(one) != string(all) {
		c.fail(k, "any text", "the text is %s, but that of the version %s", all, one)
	}
	c.fields(k, reflect.ValueOf(a), reflect.ValueOf(e).Elem())
}

var versionSuffix = regexp.MustCompile(`(V[0-9]+)?_?$`)

// fields holds the fields of a type for all versions against those of the version
// that it has decoded. A method tells which of them that version has.
func (c *Checker) fields(k *Case, all, one reflect.Value) {
	present := 0
	for _, f := range reflect.VisibleFields(all.Elem().Type()) {
		name := f.Name
		if f.Anonymous || name == "Seen" || !has(all, name) { // a single version is embedded
			continue
		}
		present++
		field := one.FieldByName(name)
		if !field.IsValid() {
			field = one.FieldByName(versionSuffix.ReplaceAllString(name, ""))
		}
		if !field.IsValid() {
			c.fail(k, "any field", "the version has no field %s", name)
			continue
		}
		if got := all.Elem().FieldByIndex(f.Index); !equal(got, field) {
			c.fail(k, "any field", "%s is %v, but %v in the version", name, got, field)
		}
	}
	own := one.NumField()
	if own > 0 && one.Type().Field(0).Anonymous { // etw.Empty, of an event without fields
		own--
	}
	if present != own {
		c.fail(k, "any field", "%d fields are present, but the version has %d", present, own)
	}
}

// has reports whether the version that was decoded has a field.
func has(all reflect.Value, name string) bool {
	m := all.MethodByName("Has" + name)
	return !m.IsValid() || m.Call(nil)[0].Bool()
}

// equal compares values of which the types may be of different widths, or structs
// that are declared twice.
func equal(a, b reflect.Value) bool {
	switch {
	case a.CanInt() && b.CanInt():
		return a.Int() == b.Int()
	case a.CanUint() && b.CanUint():
		return a.Uint() == b.Uint()
	}
	x, err1 := json.Marshal(a.Interface())
	y, err2 := json.Marshal(b.Interface())
	if err1 != nil || err2 != nil { // NaN
		return reflect.DeepEqual(a.Interface(), b.Interface()) || a.CanFloat()
	}
	return string(x) == string(y)
}
