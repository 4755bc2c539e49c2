package dotnetreceiver

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestDocumented has each option in the page of this receiver, or in that of all three: in a table
// that names it, with its path.
func TestDocumented(t *testing.T) {
	own := testio.Read(t, "../../docs/collector-dotnet.md")
	all := testio.Read(t, "../../docs/collector.md")
	_, shared, ok := strings.Cut(string(all), "\n## Options of all three\n")
	if !ok {
		t.Fatal("the section is called otherwise")
	}
	keys(reflect.TypeFor[Config](), "", func(below, key string) {
		for line := range strings.Lines(string(own) + shared) {
			named, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			word := regexp.MustCompile(`\b` + key + `\b`)
			if row && strings.HasPrefix(line, "| ") && (strings.HasPrefix(named, below) && word.MatchString(named) || strings.HasPrefix(named, strings.TrimSuffix(below, ":")) && word.MatchString(line)) {
				return
			}
		}
		t.Errorf("the pages do not have %s %s", below, key)
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
