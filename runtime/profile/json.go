package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/etwgen/etwgen/runtime/etw"
)

func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '[' {
		return len(head) > 0 && head[0] == '{'
	}
	head = bytes.TrimLeft(head[1:], " \t\r\n") // [waiting] is a frame
	return len(head) > 0 && bytes.IndexByte([]byte(`{["]`), head[0]) >= 0
}

// A document is what the formats in JSON have at their top, each in its own words.
type document struct {
	Schema json.RawMessage `json:"$schema"`
	// of speedscope
	Shared   json.RawMessage `json:"shared"`
	Profiles json.RawMessage `json:"profiles"`
	Name     json.RawMessage `json:"name"`
	// of traces of Chrome, and of OpenTelemetry
	TraceEvents      json.RawMessage `json:"traceEvents"`
	ResourceProfiles json.RawMessage `json:"resourceProfiles"`
}

// readJSON reads the profile that a document is, as its keys tell.
func readJSON(p *Profile, data []byte) error {
	var d document
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		return &formatError{"it is a list in JSON, as traces of Chrome are, and no profile"}
	}
	if err := p.decode("", data, &d); err != nil {
		return err
	}
	switch {
	case d.Profiles != nil && d.Shared != nil:
		return readSpeedscope(p, &d)
	case d.TraceEvents != nil:
		return &formatError{"it is a trace of Chrome, which has what happened when, and no profile; https://ui.perfetto.dev opens it"}
	case d.ResourceProfiles != nil:
		return &formatError{"it is a profile of OpenTelemetry in JSON; the binary form of it is read"}
	}
	return &formatError{"it is JSON, but no profile of speedscope"}
}

// A formatError says what a file is that is no profile.
type formatError struct{ text string }

func (e *formatError) Error() string        { return e.text }
func (e *formatError) Is(target error) bool { return target == ErrFormat }

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
