package flow

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A checker finds values that do not fit their place, and says how to write them. Only the
// fit for texts is known where a configuration was refused, since texts may come from the
// environment and look like numbers.
type checker struct {
	failed bool
	hints  []string
}

func (c *checker) say(format string, a ...any) { c.hints = append(c.hints, fmt.Sprintf(format, a...)) }

// check looks at a value, and at all in it.
func (c *checker) check(place string, v any, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch list, isList := v.([]any); {
	case v == nil:
	case t == reflect.TypeFor[time.Duration]():
		c.duration(place, v)
	case t.Kind() == reflect.Struct:
		c.keys(place, v, t)
	case t.Kind() == reflect.Slice && isList:
		for i := range list {
			if list[i] == nil || list[i] == "" {
				c.say("%s[%d] is empty: write a value, or leave it out", place, i)
			}
			c.check(fmt.Sprintf("%s[%d]", place, i), list[i], t.Elem())
		}
	case t.Kind() == reflect.Int:
		if text, ok := v.(string); ok && c.failed {
			if _, err := strconv.Atoi(text); err != nil {
				c.say("%s %q: write a whole number", place, text)
			}
		}
		c.whole(place, v)
	case t.Kind() == reflect.String && c.failed && isNumber(v):
		c.say("%s %v: write it in quotes", place, v)
	}
}

// keys looks at the values of a part.
func (c *checker) keys(place string, v any, t reflect.Type) {
	values, ok := v.(map[string]any)
	if text, isText := v.(string); isText && c.failed {
		first, _, _ := strings.Cut(t.Field(0).Tag.Get("mapstructure"), ",")
		if _, named := t.FieldByName("Name"); named {
			first = "name"
		}
		if first != "" && first != "-" { // else it is a text that is read into parts
			c.say("%s %q: write {%s: %s}", place, text, first, text)
		}
	}
	if !ok {
		return
	}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("mapstructure"), ",")
		if v, ok := values[key]; ok && key != "" {
			c.check(strings.TrimPrefix(place+": "+key, ": "), v, t.Field(i).Type)
		}
	}
}

func (c *checker) duration(place string, v any) {
	switch v := v.(type) {
	case int, int64, float64:
		if v != 0 {
			c.say("%s %v has no unit: write %[2]vs, or with ms, m or h", place, v)
		}
	case string:
		if _, err := time.ParseDuration(v); err != nil {
			c.say("%s %q: write numbers with the units h, m, s and ms, such as 720h or 200ms", place, v)
		}
	}
}

func (c *checker) whole(place string, v any) {
	n, isFloat := v.(float64)
	switch i, isInt := v.(int); {
	case isFloat && n != math.Trunc(n):
		c.say("%s %v: write a whole number", place, v)
	case isFloat && math.Abs(n) > math.MaxInt32, isInt && int64(i) > math.MaxInt32:
		c.say("%s %v: write %d or less", place, v, math.MaxInt32)
	}
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int64, float64, bool:
		return true
	}
	return false
}
