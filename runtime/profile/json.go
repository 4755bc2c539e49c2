package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

// A document is the top of the formats in JSON, each in its own words.
type document struct {
	Schema json.RawMessage `json:"$schema"`
	// of speedscope
	Shared   json.RawMessage `json:"shared"`
	Profiles json.RawMessage `json:"profiles"`
	Name     json.RawMessage `json:"name"`
	// of Firefox, which also has shared
	Meta    json.RawMessage `json:"meta"`
	Threads json.RawMessage `json:"threads"`
	// of V8
	Nodes json.RawMessage `json:"nodes"`
	// of traces of Chrome, and of OpenTelemetry
	TraceEvents      json.RawMessage `json:"traceEvents"`
	ResourceProfiles json.RawMessage `json:"resourceProfiles"`
}

// decode decodes a value at a path of the document.
func (p *Profile) decode(path string, data []byte, into any) error {
	err := json.Unmarshal(data, into)
	return p.explain(path, err)
}

// explain says where the document is wrong: at an offset if it is all of it, or at a path.
func (p *Profile) explain(path string, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case path == "" && errors.As(err, &syntax):
		return &etw.Damage{Format: p.Format, Offset: syntax.Offset, Err: errors.New(syntax.Error())}
	case errors.As(err, &kind):
		if kind.Field != "" {
			path += "." + kind.Field
		}
		return fmt.Errorf("%s: %s is not of the kind that belongs there", path, kind.Value)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// elements decodes the elements of an array one by one, so that a large one of nothing does
// not take memory before it is looked at.
func elements[T any](p *Profile, path string, data json.RawMessage, do func(i int, x *T) error) error {
	if data == nil || string(data) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return fmt.Errorf("%s: it is no array", path)
	}
	for i := 0; d.More(); i++ {
		x := new(T)
		if err := d.Decode(x); err != nil {
			return p.explain(fmt.Sprintf("%s[%d]", path, i), err)
		}
		if err := do(i, x); err != nil {
			return fmt.Errorf("%s[%d]: %w", path, i, err)
		}
	}
	return nil
}
