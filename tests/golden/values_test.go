package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/runtime/etw"
	outer "github.com/etwgen/etwgen/tests/golden/outer/want"
	structs "github.com/etwgen/etwgen/tests/golden/structs/want"
	versions "github.com/etwgen/etwgen/tests/golden/versions/want"
)

// logged returns v as a logger writes it.
func logged(t *testing.T, handler func(*bytes.Buffer, *slog.HandlerOptions) slog.Handler, v any) string {
	t.Helper()
	var buf bytes.Buffer
	options := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key != "v" {
			return slog.Attr{}
		}
		return a
	}}
	slog.New(handler(&buf, options)).Info("", "v", v)
	return strings.TrimSpace(buf.String())
}

// TestValuesAreShown: events, types of all versions, structs and arrays of them
// are shown in the same way as values and by pointers.
func TestValuesAreShown(t *testing.T) {
	value := structs.BulkValue{ID: 1, Flags: 2, Name: etw.MakeUTF16("a b"), Count: 1, Parameters: etw.MakeInts[uint64](10)}
	values := must(structs.MakeBulkValues(etw.Ptr64, value))
	const (
		valueText = `{ID=1 Flags=2 Name="a b" Count=1 Parameters=[10]}`
		valueJSON = `{"ID":1,"Flags":2,"Name":"a b","Count":1,"Parameters":[10]}`
	)
	bulk := structs.Bulk{Count: 1, Values: values}
	start := versions.AnyStart{Seen: etw.Seen{Version: 1, Layout: 1}, Count: 7, Reason: etw.MakeUTF16("x")}
	rows := must(outer.MakeTableRows(etw.Ptr64, 1, outer.TableRow{ID: 3, Data: etw.Binary{9}, Cells: etw.MakeInts[uint32](7)}))
	tests := []struct {
		name           string
		value, pointer any
		text, json     string
		log            string // as text
	}{
		{"event", bulk, &bulk, "Bulk Count=1 Values=[" + valueText + "]", `{"Count":1,"Values":[` + valueJSON + `]}`,
			`v="Bulk Count=1 Values=[{ID=1 Flags=2 Name=\"a b\" Count=1 Parameters=[10]}]"`},
		{"event by its description", etw.Show(&bulk), etw.Show(&bulk), "Bulk Count=1 Values=[" + valueText + "]", `{"Count":1,"Values":[` + valueJSON + `]}`,
			`v.Count=1 v.Values="[{ID=1 Flags=2 Name=\"a b\" Count=1 Parameters=[10]}]"`},
		{"all versions", start, &start, "Start_V1 Count=7 Depth=0 Reason=x", `{"Count":7,"Depth":0,"Reason":"x"}`,
			`v="Start_V1 Count=7 Depth=0 Reason=x"`},
		{"struct", value, &value, valueText, valueJSON, `v="{ID=1 Flags=2 Name=\"a b\" Count=1 Parameters=[10]}"`},
		{"structs", values, &values, "[" + valueText + "]", "[" + valueJSON + "]",
			`v="[{ID=1 Flags=2 Name=\"a b\" Count=1 Parameters=[10]}]"`},
		{"structs with a size from outside", rows, &rows, "[{ID=3 Data=09 Cells=[7]}]", `[{"ID":3,"Data":"09","Cells":[7]}]`,
			`v="[{ID=3 Data=09 Cells=[7]}]"`},
		{"no structs", structs.BulkValues{}, &structs.BulkValues{}, "[]", "[]", "v=[]"},
	}
	asText := func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewTextHandler(b, o) }
	asJSON := func(b *bytes.Buffer, o *slog.HandlerOptions) slog.Handler { return slog.NewJSONHandler(b, o) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range []any{tt.value, tt.pointer} {
				if got := fmt.Sprintln(v); got != tt.text+"\n" {
					t.Errorf("%T prints %s, want %s", v, got, tt.text)
				}
				if got := string(must(json.Marshal(v))); got != tt.json {
					t.Errorf("%T as JSON is %s, want %s", v, got, tt.json)
				}
				if got := logged(t, asText, v); got != tt.log {
					t.Errorf("%T logs %s, want %s", v, got, tt.log)
				}
				var line map[string]any
				if err := json.Unmarshal([]byte(logged(t, asJSON, v)), &line); err != nil || line["v"] == nil {
					t.Errorf("%T logs JSON %v, error %v", v, line, err)
				}
			}
		})
	}
}

// TestViewText: arrays of structs have a text, and a JSON form by themselves.
func TestViewText(t *testing.T) {
	nodes := must(structs.MakeGraphNodes(etw.Ptr64, structs.GraphNode{Address: 16, Size: 2, Next: 3}))
	text, err := json.Marshal(nodes)
	if want := "[{Address=0x10 Size=2 Next=0x3}]"; err != nil || string(text) != `[{"Address":"0x10","Size":2,"Next":"0x3"}]` || nodes.String() != want {
		t.Errorf("text %s, error %v, want %s", text, err, want)
	}
}

// TestClone: clones share no memory with the payload, whole events or parts.
func TestClone(t *testing.T) {
	want := structs.Bulk{Count: 1, Values: must(structs.MakeBulkValues(etw.Ptr64,
		structs.BulkValue{ID: 1, Name: etw.MakeUTF16("name"), Count: 1, Parameters: etw.MakeInts[uint64](10)}))}
	payload := must(want.AppendPayload(nil, etw.Ptr64))
	var e structs.Bulk
	if _, err := e.DecodePayload(payload, etw.Ptr64); err != nil {
		t.Fatal(err)
	}
	event, values := e.Clone(), e.Values.Clone()
	var value, original structs.BulkValue
	for v := range e.Values.All() {
		value = v.Clone()
	}
	for v := range want.Values.All() {
		original = v
	}
	clear(payload)
	if diff := cmp.Diff(&want, event); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Values, values); diff != "" {
		t.Errorf("array (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(original, value); diff != "" {
		t.Errorf("element (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&e, event); diff == "" {
		t.Error("the event itself did not change with the payload")
	}
}
