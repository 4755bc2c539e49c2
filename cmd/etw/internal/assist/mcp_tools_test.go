package assist

import (
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// TestCheck holds inputs of each kind against those that a tool has.
func TestCheck(t *testing.T) {
	x := &tool{Parameters: []parameter{
		{Name: "trace", kind: "trace", Needed: true}, {Name: "a", kind: "traces"}, {Name: "process", kind: "strings"}, {Name: "from", kind: "time"},
		{Name: "min", kind: "number"}, {Name: "depth", kind: "integer"}, {Name: "all", kind: "boolean"}, {Name: "of", kind: "string", oneOf: []string{"cpu", "allocs"}},
		{Name: "bytes", kind: "integer", least: 10, most: 20},
	}}
	for inputs, want := range map[string]bool{
		``: true, `"a":"b"`: true, `"a":["b","c"]`: true, `"a":[]`: true, `"process":[1,"b"]`: true, `"process":7`: true, `"from":1.5`: true, `"from":"1s"`: true,
		`"min":0.5`: true, `"depth":2`: true, `"depth":2.0`: true, `"all":false`: true, `"of":"cpu"`: true, `"bytes":10`: true, `"bytes":20`: true,
		`"a":1`: false, `"a":["b",1]`: false, `"a":[["b"]]`: false, `"process":[true]`: false, `"process":[["b"]]`: false, `"process":{}`: false, `"from":[]`: false, `"from":null`: false,
		`"min":"0.5"`: false, `"depth":2.5`: false, `"all":"yes"`: false, `"of":"CPU"`: false, `"bytes":9`: false, `"bytes":21`: false, `"Trace":"b"`: false, `"none":1`: false,
	} {
		text := `{"trace":"t1"`
		if inputs != "" {
			text += "," + inputs
		}
		var in map[string]any
		testio.JSON(t, []byte(text+"}"), &in)
		if err := x.check(in); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if x.check(map[string]any{"a": "b"}) == nil {
		t.Error("nothing is said of an input that is needed")
	}
}
