package dotnetreceiver

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestDocumented has each option in docs/collector.md: in a table that names it, with its
// path.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/collector.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(b), "\n## dotnet\n")
	section, rest, _ := strings.Cut(section, "\n## trace_file\n")
	_, shared, ok := strings.Cut(rest, "\n## Options of all three\n")
	if !ok {
		t.Fatal("the sections are called otherwise")
	}
	shared, _, _ = strings.Cut(shared, "\n## ")
	keys(reflect.TypeFor[Config](), "", func(below, key string) {
		for line := range strings.Lines(section + shared) {
			named, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			word := regexp.MustCompile(`\b` + key + `\b`)
			if row && strings.HasPrefix(line, "| ") && (strings.HasPrefix(named, below) && word.MatchString(named) || strings.HasPrefix(named, strings.TrimSuffix(below, ":")) && word.MatchString(line)) {
				return
			}
		}
		t.Errorf("docs/collector.md does not have %s %s", below, key)
	})
}

// keys calls each with all keys of a configuration, and their paths.
func keys(of reflect.Type, below string, each func(below, key string)) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for i := range of.NumField() {
		key := of.Field(i).Tag.Get("mapstructure")
		each(below, key)
		if below == "" {
			keys(of.Field(i).Type, key+":", each)
		}
	}
}
