package etwtest

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/runtime/etw"
)

// Versions checks types that take all versions of an event against the types of the single
// versions, with both sizes of pointers. It checks of each that
//   - it reads what they read, and fails where they fail;
//   - its fields and values are theirs, and so are its text and its JSON, which therefore
//     stays the same when an event gains a second version;
//   - a version that is newer is decoded as the newest one, and says so;
//   - its clone shares no memory with the payload.
func Versions(t testing.TB, types []etw.Event, anys ...etw.AnyVersion) {
	t.Helper()
	for _, e := range anys {
		versions(t, types, e)
	}
}

func versions(t testing.TB, types []etw.Event, e etw.AnyVersion) {
	t.Helper()
	descs := etw.Versions(e)
	for i, d := range descs {
		at := slices.IndexFunc(types, func(one etw.Event) bool { return one.EventDesc() == d })
		if at < 0 {
			t.Errorf("%T: no type of %s is given", e, d.Title())
			continue
		}
		vary(t, d, fmt.Sprintf("%T of ", e), func(ptr etw.PtrSize, payload []byte) error {
			return versionAgrees(e, New(types[at]), ptr, payload, i == len(descs)-1)
		})
	}
}

// versionAgrees checks the result of e for a payload of the version that one is.
func versionAgrees(e etw.AnyVersion, one etw.Event, ptr etw.PtrSize, payload []byte, newest bool) error {
	d := one.EventDesc()
	for _, p := range [][]byte{payload, payload[:len(payload)/2]} {
		n, err := one.DecodePayload(p, ptr)
		m, failed := e.DecodeVersion(d.Version, p, ptr)
		if (err == nil) != (failed == nil) || m != n {
			return fmt.Errorf("of %d bytes %d are read (%v), by the type of the version %d (%v)", len(p), m, failed, n, err)
		}
	}
	if _, err := one.DecodePayload(payload, ptr); err != nil {
		return err
	}
	if newest && d.Version < 255 {
		if _, err := e.DecodeVersion(d.Version+1, payload, ptr); err != nil {
			return err
		}
		if want := (etw.Seen{Version: d.Version + 1, Layout: d.Version}); seen(e) != want {
			return fmt.Errorf("of a newer version it has seen %+v, want %+v", seen(e), want)
		}
		if err := sameEvent(e, one); err != nil {
			return fmt.Errorf("as a newer version: %w", err)
		}
	}
	decode := func(p []byte) error { _, err := e.DecodeVersion(d.Version, p, ptr); return err }
	if err := clones(e, decode, payload); err != nil {
		return err
	}
	if want := (etw.Seen{Version: d.Version, Layout: d.Version}); seen(e) != want {
		return fmt.Errorf("it has seen %+v, want %+v", seen(e), want)
	}
	return sameEvent(e, one)
}

// seen returns the field Seen of a type for all versions.
func seen(e etw.AnyVersion) etw.Seen {
	s, _ := reflect.ValueOf(e).Elem().FieldByName("Seen").Interface().(etw.Seen)
	return s
}

// sameEvent checks that e holds and shows the same as one, the event as the type of its
// version.
func sameEvent(e etw.AnyVersion, one etw.Event) error {
	d := one.EventDesc()
	if got := e.EventDesc(); got != d {
		return fmt.Errorf("the description is that of version %d", got.Version)
	}
	for i := range d.Fields {
		if got, want := e.FieldValue(i), one.FieldValue(i); !got.Equal(want) {
			return fmt.Errorf("field %s is %v, want %v", d.Fields[i].Name, got, want)
		}
	}
	got, err := json.Marshal(etw.Show(e))
	if err != nil {
		return err
	}
	plain, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if string(plain) != string(got) {
		return fmt.Errorf("its own JSON would change with a second version, generate the package again: %s, want %s", plain, got)
	}
	want, err := json.Marshal(etw.Show(one))
	if err != nil {
		return err
	}
	if string(got) != string(want) || fmt.Sprint(e) != fmt.Sprint(one) {
		return fmt.Errorf("shown as %s and %v, want %s and %v", got, e, want, one)
	}
	return sameFields(reflect.ValueOf(e).Elem(), reflect.ValueOf(one).Elem(), d.Version)
}

// sameFields checks the fields of one against those of e.
func sameFields(e, one reflect.Value, version uint8) error {
	for i := range one.NumField() {
		if one.Type().Field(i).Anonymous {
			continue // etw.Empty, of an event without fields
		}
		name := one.Type().Field(i).Name
		own := fieldOf(e, name, version)
		if !own.IsValid() {
			return fmt.Errorf("no field %s", name)
		}
		if !sameValue(own, one.Field(i)) {
			return fmt.Errorf("%s is %v, want %v", name, own, one.Field(i))
		}
	}
	return nil
}

// fieldOf returns the field of e that holds the field of a version. It has its
// name or, if newer versions have another field of that name, its name, V, and the
// newest version that has it.
func fieldOf(e reflect.Value, name string, version uint8) reflect.Value {
	oldest, at := math.MaxUint8+1, 0
	for i := range e.NumField() {
		suffixed := e.Type().Field(i).Name
		if number, ok := strings.CutPrefix(suffixed, name+"V"); ok && !e.Type().Field(i).Anonymous {
			v, err := strconv.Atoi(number)
			if err == nil && int(version) <= v && v < oldest && has(e, suffixed) {
				oldest, at = v, i
			}
		}
	}
	if oldest <= math.MaxUint8 {
		return e.Field(at)
	}
	if own := e.FieldByName(name); own.IsValid() {
		return own
	}
	if own := e.FieldByName(name + "Field"); own.IsValid() {
		return own
	}
	return e.FieldByName(name + "_") // of generated code up to version 4
}

// has reports whether the event that e decoded has the field, as far as e says.
func has(e reflect.Value, name string) bool {
	if method := e.Addr().MethodByName("Has" + name); method.IsValid() {
		return method.Call(nil)[0].Bool()
	}
	return true
}

// sameValue reports whether x and y hold the same, though their types may differ.
func sameValue(x, y reflect.Value) bool {
	switch {
	case x.CanInt() && y.CanInt():
		return x.Int() == y.Int()
	case x.CanUint() && y.CanUint():
		return x.Uint() == y.Uint()
	}
	all := x.MethodByName("All")
	if !all.IsValid() || !y.MethodByName("All").IsValid() {
		return fmt.Sprint(x) == fmt.Sprint(y)
	}
	next, stop := iter.Pull(y.MethodByName("All").Call(nil)[0].Seq())
	defer stop()
	for a := range all.Call(nil)[0].Seq() {
		if b, ok := next(); !ok || !sameValue(a, b) {
			return false
		}
	}
	_, more := next()
	return !more
}
