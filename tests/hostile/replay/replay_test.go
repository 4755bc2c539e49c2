package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/runtime/etw"
)

// gcStart is a case of an event that has several versions.
func gcStart(want string) *Case {
	return &Case{ID: 1, Version: 1, Ptr: etw.Ptr64, Payload: []byte("\x01\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x05\x00"), Want: json.RawMessage(want)}
}

const gcStartWant = `{"Count":1,"Depth":2,"Reason":"AllocSmall","Type":"BackgroundGC","ClrInstanceID":5}`

// check returns the fault of a case.
func check(k *Case) (results []Result, payloads int) {
	c := NewChecker(clr.Provider, func(r Result) { results = append(results, r) }, clr.Types(), new(clr.AnyGCStart))
	c.Check(k)
	return results, c.Payloads
}

func TestCheck(t *testing.T) {
	results, payloads := check(gcStart(gcStartWant))
	if len(results) > 0 || payloads != 3 {
		t.Errorf("%d decoders, %v", payloads, results)
	}
}

// TestFinds checks that each decoder's faults are found.
func TestFinds(t *testing.T) {
	classes := map[string]bool{}
	note := func(k *Case) {
		results, _ := check(k)
		for _, r := range results {
			classes[r.Class] = true
		}
	}
	note(gcStart(strings.Replace(gcStartWant, "5", "6", 1)))
	long := gcStart(gcStartWant)
	long.Payload = append(long.Payload, 0, 0)
	note(long)
	unknown := gcStart(gcStartWant)
	unknown.Version = 200
	note(unknown)
	for _, class := range []string{"dynamic", "typed", "any", "missing", "append", "dynamic cut", "typed cut", "any cut"} {
		if !classes[class] {
			t.Errorf("no fault of class %q was found: %v", class, classes)
		}
	}
}

func TestRun(t *testing.T) {
	var in, out bytes.Buffer
	e := json.NewEncoder(&in)
	e.Encode(gcStart(gcStartWant))
	e.Encode(gcStart(`{}`))
	if err := run(&in, &out, clr.Provider, clr.Types(), new(clr.AnyGCStart)); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 4 { // three decoders, and the sum
		t.Errorf("%d results: %s", n, out.Bytes())
	}
	if err := run(strings.NewReader("no JSON"), &out, clr.Provider, nil); err == nil {
		t.Error("no error for what is no JSON")
	}
}

func TestEqualJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1.50}`, `{"a":1.5}`, true},
		{`{"a":1e3}`, `{"a":1000}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, false},
		{`{"a":"\u0041"}`, `{"a":"A"}`, true},
		{`{"a":1}`, `{"a":1`, false},
		{`[1]`, `[1,2]`, false},
	} {
		if got := equalJSON([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, got)
		}
	}
}
