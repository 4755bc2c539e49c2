package showtest

import (
	"bytes"
	"encoding/json"
	"errors"
)

// CheckEvent checks that an event in JSON has the keys that it should, in their order, and
// values of the right types.
func CheckEvent(line []byte) error {
	all := []struct {
		key      string
		optional bool
		value    any
	}{
		{"time", false, ""}, {"ms", false, 0.0}, {"file", true, ""}, {"provider", false, ""}, {"guid", false, ""}, {"id", false, 0.0}, {"version", false, 0.0},
		{"opcode", false, 0.0}, {"level", false, 0.0}, {"task", false, 0.0}, {"keywords", false, ""}, {"event", false, ""}, {"pid", false, 0.0}, {"process", true, ""},
		{"tid", false, 0.0}, {"thread", true, ""}, {"cpu", false, 0.0}, {"size", false, 0.0}, {"activity", true, ""}, {"related", true, ""}, {"fields", false, nil},
		{"stack", false, nil}, {"frames", true, nil}, {"payload", false, ""}, {"error", true, ""},
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if _, err := dec.Token(); err != nil {
		return err
	}
	next := 0
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		for next < len(all) && all[next].key != token && all[next].optional {
			next++
		}
		if next == len(all) || all[next].key != token {
			return errors.New("unexpected key " + token.(string))
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			return err
		}
		switch all[next].value.(type) {
		case string:
			_, ok := value.(string)
			if !ok {
				return errors.New(all[next].key + " is no string")
			}
		case float64:
			if _, ok := value.(float64); !ok {
				return errors.New(all[next].key + " is no number")
			}
		}
		next++
	}
	for ; next < len(all); next++ {
		if !all[next].optional {
			return errors.New("no key " + all[next].key)
		}
	}
	return nil
}
