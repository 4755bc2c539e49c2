package flow

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/confmap"
)

var unknownKeys = regexp.MustCompile(`'([^']*)' has invalid keys: ([\w, -]+)`)

// Unmarshal fills a configuration, and says of keys that it does not have which may be
// meant. Into must have no Unmarshal method of its own.
func Unmarshal(conf *confmap.Conf, into any) error {
	err := conf.Unmarshal(into)
	c := checker{failed: err != nil}
	c.check("", conf.ToStringMap(), reflect.TypeOf(into).Elem())
	hints := c.hints
	switch {
	case err == nil && len(hints) == 0:
		return nil
	case err == nil:
		return errors.New(strings.Join(hints, "; "))
	}
	keys := keysOf(reflect.TypeOf(into), "")
	for _, m := range unknownKeys.FindAllStringSubmatch(err.Error(), -1) {
		for _, key := range strings.Split(m[2], ", ") {
			if like := nearest(key, keys); like != "" {
				hints = append(hints, fmt.Sprintf("unknown key %s: did you mean %s?", key, like))
			} else {
				hints = append(hints, fmt.Sprintf("unknown key %s: write some of %s", key, strings.Join(below(m[1], keys), ", ")))
			}
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

var index = regexp.MustCompile(`\[\d+\]`)

// below returns the keys at a place, which is the whole configuration if none is there.
func below(place string, keys []string) (list []string) {
	prefix := index.ReplaceAllString(place, "") + "."
	if !slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, prefix) }) {
		prefix = ""
	}
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k, prefix); ok && !strings.Contains(rest, ".") {
			list = append(list, rest)
		}
	}
	return list
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

// Text returns the value of a place of a configuration that takes a text, a number or a list
// of texts.
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
