package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/etwgen/etwgen/cmd/etw/internal/assist"
	"github.com/etwgen/etwgen/internal/testio"
)

// A wire talks to a server message by message.
type wire struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// newWire starts a server.
func newWire(t *testing.T) *wire {
	t.Helper()
	cmd := etwProcess(t, "mcp", "--root", t.TempDir())
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := testio.Start(t, cmd)
	t.Cleanup(func() {
		in.Close()
		if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
			t.Errorf("at its end it says %q, %v", rest, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
	return &wire{in, bufio.NewReader(out)}
}

// send sends a message as it is.
func (w *wire) send(t *testing.T, message string) {
	t.Helper()
	if _, err := io.WriteString(w.in, message+"\n"); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next message.
func (w *wire) receive(t *testing.T) map[string]any {
	t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	testio.JSON(t, line, &m)
	return m
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// TestProtocol holds the server against the rules of the protocol, message by message.
func TestProtocol(t *testing.T) {
	w := newWire(t)
	w.send(t, initialize)
	first := w.receive(t)
	result, _ := first["result"].(map[string]any)
	if result["protocolVersion"] != "2025-06-18" || result["instructions"] == "" || first["id"] != 0.0 {
		t.Errorf("initialize: %v", first)
	}
	capabilities := result["capabilities"].(map[string]any)
	for _, name := range []string{"tools", "prompts", "resources"} {
		if capabilities[name] == nil {
			t.Errorf("it does not say that it has %s", name)
		}
	}
	w.send(t, initialized)
	for _, c := range []struct {
		send string
		code float64 // of the error, or 0
	}{
		{`{"jsonrpc":"2.0","id":"a","method":"ping"}`, 0},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 0},
		{`{"jsonrpc":"2.0","id":2,"method":"no/such"}`, -32601},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no_such","arguments":{}}}`, -32602},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}`, -32602},
		{`{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"no_such"}}`, -32602},
		{`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"etw://no/such"}}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"no such"}}`, -32602},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"reason":"none"}}` + "\n" + `{"jsonrpc":"2.0","id":8,"method":"ping"}`, 0},
		{`{"jsonrpc":"2.0","id":11,"method":"notifications/initialized"}`, -32600},
		{`{"jsonrpc":"2.0","id":12,"method":"tools/call"}`, -32600},
		{`{"jsonrpc":"2.0","id":13,"method":"prompts/get","params":{"name":"high_cpu","arguments":[1]}}`, -32602},
		{`{"jsonrpc":"2.0","id":14,"method":"tools/list","params":{` + perRequest("2026-07-28") + `}}`, 0},
		{`{"jsonrpc":"2.0","id":15,"method":"tools/list","params":{` + perRequest("2030-01-01") + `}}`, -32022},
		{`{"jsonrpc":"2.0","id":16,"method":"ping","params":{` + perRequest("2026-07-28") + `}}`, -32601},
		{`{"jsonrpc":"2.0","id":17,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, -32602},
		{strings.Replace(initialize, `"id":0`, `"id":18`, 1), -32600},
		{`{"jsonrpc":"2.0","method":"notifications/no_such"}` + "\n" + `{"jsonrpc":"2.0","id":9,"method":"ping"}`, 0},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"gc","arguments":{"trace":"none"}}}`, 0},
	} {
		w.send(t, c.send)
		got := w.receive(t)
		fault, _ := got["error"].(map[string]any)
		if code, _ := fault["code"].(float64); code != c.code || c.code == 0 && got["result"] == nil {
			t.Errorf("%s: %v, want the code %v", c.send, got, c.code)
		}
		if got["id"] == nil || !strings.Contains(c.send, strings.TrimSuffix(toJSON(t, got["id"]), ".0")) {
			t.Errorf("%s: the answer is to %v", c.send, got["id"])
		}
	}
}

// perRequest is the description of the client in each request where there is no session.
func perRequest(version string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
}

// TestProtocolRefuses sends invalid messages: it is answered with an error, and the server
// goes on.
func TestProtocolRefuses(t *testing.T) {
	w := newWire(t)
	w.send(t, initialize)
	w.receive(t)
	w.send(t, initialized)
	nested := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, c := range []struct {
		send string
		code float64
	}{
		{`{bad`, assist.CodeParse}, {"\xef\xbb\xbf{}", assist.CodeParse}, {"\xff\xfe\x00", assist.CodeParse}, {`{"jsonrpc":"2.0"} {}`, assist.CodeParse},
		{`[]`, assist.CodeInvalid}, {`null`, assist.CodeInvalid}, {`42`, assist.CodeInvalid}, {`{}`, assist.CodeInvalid}, {`[` + initialized + `]`, assist.CodeInvalid}, {nested, assist.CodeInvalid},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, assist.CodeInvalid}, {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, assist.CodeInvalid},
		{`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, assist.CodeInvalid}, {`{"jsonrpc":"2.0","id":1e30,"method":"ping"}`, assist.CodeInvalid},
		{`{"jsonrpc":"1.0","method":"ping"}`, assist.CodeInvalid}, {`{"method":"ping"}`, assist.CodeInvalid}, {`{"JSONRPC":"2.0","method":"ping"}`, assist.CodeInvalid},
		{`{"jsonrpc":"2.0","method":7}`, assist.CodeInvalid}, {`{"jsonrpc":"2.0","method":null}`, assist.CodeInvalid},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + nested + `}}`, assist.CodeInvalid},
		{`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", assist.MaxMessage) + `"}`, assist.CodeInvalid},
	} {
		w.send(t, c.send)
		got := w.receive(t)
		fault, _ := got["error"].(map[string]any)
		if id, ok := got["id"]; fault["code"] != c.code || id != nil || !ok {
			t.Errorf("%.80s: %v, want the code %v", c.send, got, c.code)
		}
	}
	for i, quiet := range []string{
		"", " \r", `{"jsonrpc":"2.0","id":5,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":7}`, `{"jsonrpc":"2.0","id":5,"ID":{},"Method":8,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}`,
	} {
		w.send(t, quiet)
		if strings.Contains(quiet, "Method") {
			w.receive(t)
		}
		w.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
		if got := w.receive(t); got["id"] != float64(i) || got["result"] == nil {
			t.Errorf("after %s: %v", quiet, got)
		}
	}
}

// TestProtocolEchoes: an error does not repeat its subject at length.
func TestProtocolEchoes(t *testing.T) {
	w := newWire(t)
	w.send(t, initialize)
	w.receive(t)
	w.send(t, initialized)
	long := strings.Repeat("x", 100_000)
	for _, c := range []string{
		`"tools/call","params":{"name":"gc","arguments":{"trace":"` + long + `"}}`,
		`"tools/call","params":{"name":"gc","arguments":{"trace":"a","` + long + `":1}}`,
		`"tools/call","params":{"name":"` + long + `"}`,
		`"prompts/get","params":{"name":"` + long + `"}`,
		`"resources/read","params":{"uri":"etw://guides/` + long + `"}`,
		`"` + long + `"`,
	} {
		w.send(t, `{"jsonrpc":"2.0","id":1,"method":`+c+`}`)
		if got := toJSON(t, w.receive(t)); len(got) > 4*assist.MaxEcho {
			t.Errorf("%.60s: %d bytes, %.200s", c, len(got), got)
		}
	}
}

// TestProtocolEnd sends all at once: questions before the end are answered.
func TestProtocolEnd(t *testing.T) {
	cmd := etwProcess(t, "mcp", "--root", filepath.Dir(recordedPath("gc.nettrace")))
	call := `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"gc","arguments":{"trace":"gc.nettrace"}}}`
	cmd.Stdin = strings.NewReader(strings.Join([]string{initialize, initialized, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, call}, "\n"))
	out, err := cmd.Output()
	if err != nil || strings.Count(string(out), "\n") != 3 || strings.Contains(string(out), `"error"`) {
		t.Errorf("%v: %.500s", err, out)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	return string(testio.Marshal(t, v))
}

// TestConformance plays the scripts with which the protocol's own library tests its server,
// as far as they are about no tool of its own.
func TestConformance(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk").Output()
	if err != nil || strings.TrimSpace(string(dir)) == "" {
		t.Skip("the source of the library is not at hand")
	}
	for _, name := range []string{"lifecycle", "bad_requests", "version-latest", "version-older", "discover"} {
		t.Run(name, func(t *testing.T) {
			script, err := txtar.ParseFile(filepath.Join(strings.TrimSpace(string(dir)), "mcp", "testdata", "conformance", "server", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			var sent, want []map[string]any
			for _, f := range script.Files {
				switch f.Name {
				case "client":
					sent = messages(t, f.Data)
				case "server":
					want = messages(t, f.Data)
				}
			}
			w := newWire(t)
			var got []map[string]any
			for _, m := range sent {
				w.send(t, toJSON(t, m))
				if m["id"] != nil {
					got = append(got, w.receive(t))
				}
			}
			for _, list := range [][]map[string]any{got, want} {
				for _, m := range list {
					withoutOwn(m)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// messages returns those that stand one after another.
func messages(t *testing.T, text []byte) []map[string]any {
	t.Helper()
	var list []map[string]any
	dec := json.NewDecoder(strings.NewReader(string(text)))
	for {
		var m map[string]any
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return list
		case err != nil:
			t.Fatal(err)
		}
		list = append(list, m)
	}
}

// withoutOwn takes the parts out of a message that differ by server.
func withoutOwn(m map[string]any) {
	if fault, ok := m["error"].(map[string]any); ok {
		delete(fault, "message") // its code stays
	}
	result, _ := m["result"].(map[string]any)
	for _, key := range []string{"capabilities", "serverInfo", "instructions", "tools", "_meta"} {
		delete(result, key)
	}
}
