package flowtest

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

// Schema holds config.schema.yaml of a receiver against its default configuration: it has
// all options, no others, and of each the type and the default.
func Schema(t *testing.T, config component.Config, presets []string) {
	t.Helper()
	s := schema{t}
	s.hold("", s.read("config.schema.yaml"), reflect.ValueOf(config).Elem())
	if presets == nil {
		return
	}
	items := node(node(node(s.read("config.schema.yaml"), "properties"), "presets"), "items")
	if want := fmt.Sprint(presets); fmt.Sprint(items["enum"]) != want {
		t.Errorf("presets are of %v, want %s", items["enum"], want)
	}
}

// A schema is one that a test reads.
type schema struct{ t *testing.T }

// read reads a file.
func (s schema) read(path string) map[string]any {
	s.t.Helper()
	conf, err := confmaptest.LoadConf(filepath.FromSlash(path))
	if err != nil {
		s.t.Fatal(err)
	}
	return conf.ToStringMap()
}

// node returns the node below a key, an empty map if there is none.
func node(of map[string]any, key string) map[string]any {
	below, _ := of[key].(map[string]any)
	return below
}

// kinds are the types of the schema, by the kinds of options.
var kinds = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Uint32: "integer", reflect.Float64: "number",
	reflect.Slice: "array", reflect.Struct: "object", reflect.Map: "object", reflect.Interface: "[string integer]",
}

// hold holds the schema of an option against it.
func (s schema) hold(path string, of map[string]any, v reflect.Value) {
	if of["description"] == nil {
		s.t.Errorf("%s has no description", path)
	}
	if ref, ok := of["$ref"].(string); ok {
		name, ok := strings.CutPrefix(ref, "/internal/flow.")
		of = node(node(s.read("../internal/flow/config.schema.yaml"), "$defs"), name)
		if !ok || len(of) == 0 {
			s.t.Errorf("%s refers to %s, which is not there", path, ref)
			return
		}
	}
	typ := v.Type()
	want, format := kinds[typ.Kind()], any(nil)
	switch typ {
	case reflect.TypeFor[*bool]():
		want = "boolean"
	case reflect.TypeFor[*component.ID]():
		want = "string"
	case reflect.TypeFor[time.Duration]():
		want, format = "string", "duration"
	}
	if fmt.Sprint(of["type"]) != want || of["format"] != format {
		s.t.Errorf("%s is %v %v, want %s %v", path, of["type"], of["format"], want, format)
	}
	switch typ.Kind() {
	case reflect.Struct:
		s.options(path, node(of, "properties"), v)
		return
	case reflect.Slice:
		items := node(of, "items")
		if typ.Elem().Kind() == reflect.Struct {
			s.options(path+"[]", node(items, "properties"), reflect.Zero(typ.Elem()))
		} else if items["type"] != kinds[typ.Elem().Kind()] {
			s.t.Errorf("elements of %s are %v, want %s", path, items["type"], kinds[typ.Elem().Kind()])
		}
	}
	s.preset(path, of["default"], v)
}

// options holds those that a struct has against the properties of the schema.
func (s schema) options(path string, properties map[string]any, v reflect.Value) {
	left := maps.Clone(properties)
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("mapstructure"), ",")
		if key == "" {
			continue
		}
		if below := node(properties, key); below == nil {
			s.t.Errorf("the schema does not have %s", path+key)
		} else {
			s.hold(path+key+".", below, v.Field(i))
		}
		delete(left, key)
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		s.t.Errorf("the schema has %s, which is no option", path+key)
	}
}

// preset holds the default of an option against the value that it has by default.
func (s schema) preset(path string, given any, v reflect.Value) {
	if given == nil {
		if !v.IsZero() {
			s.t.Errorf("%s has no default, want %v", path, v)
		}
		return
	}
	got := fmt.Sprint(given)
	if d, ok := v.Interface().(time.Duration); ok {
		parsed, err := time.ParseDuration(got)
		if err != nil || parsed != d {
			s.t.Errorf("%s is %s by default, want %v", path, got, d)
		}
		return
	}
	if want := fmt.Sprint(v.Interface()); got != want {
		s.t.Errorf("%s is %s by default, want %s", path, got, want)
	}
}
