package flow

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

var unknownKeys = regexp.MustCompile(`has invalid keys: ([\w, -]+)`)

// Unmarshal fills a configuration, and says of keys that it does not have which may be
// meant. Into must have no Unmarshal method of its own.
func Unmarshal(conf *confmap.Conf, into any) error {
	err := conf.Unmarshal(into)
	if err == nil {
		return nil
	}
	m := unknownKeys.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	var hints []string
	for _, key := range strings.Split(m[1], ", ") {
		if like := nearest(key, keysOf(reflect.TypeOf(into), "")); like != "" {
			hints = append(hints, fmt.Sprintf("unknown key %s: did you mean %s?", key, like))
		}
	}
	if len(hints) == 0 {
		return err
	}
	return fmt.Errorf("%s (%w)", strings.Join(hints, "; "), err)
}

// keysOf returns the paths of all keys of a configuration.
func keysOf(t reflect.Type, path string) (all []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("mapstructure"), ",")
		if key == "" {
			continue
		}
		all = append(all, path+key)
		all = append(all, keysOf(t.Field(i).Type, path+key+".")...)
	}
	return all
}

// nearest returns the path that ends like a key.
func nearest(key string, paths []string) string {
	best, most := "", max(2, len(key)/2)
	for _, p := range paths {
		last := p[strings.LastIndexByte(p, '.')+1:]
		d := distance(key, last)
		if d < most || d == most && best != "" && len(p) < len(best) {
			best, most = p, d
		}
	}
	return best
}

// Text returns what stands in a place of a configuration that takes a text, a number or
// a list of texts.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		words := make([]string, len(v))
		for i := range v {
			words[i] = fmt.Sprint(v[i])
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(v)
}

// distance returns how many letters differ.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], slices.Min([]int{before + cost, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
