package assist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A gate stands between a client and the server. It lets through the lines that are
// requests and notifications of JSON-RPC 2.0, and answers others itself, which the server
// would end of. The input ends once all that was asked is answered.
type gate struct {
	in   *bufio.Reader
	rest []byte // of a line that is let through

	mu      sync.Mutex
	out     io.Writer
	waiting map[string]bool // by id, the requests without an answer
	changed *sync.Cond      // for waiting
}

// The limits of messages of a client.
const (
	MaxMessage = 1 << 20 // bytes
	maxNesting = 100     // of nesting
	MaxEcho    = 500     // bytes of an error, which may repeat what it is about
)

// Codes of errors.
const (
	CodeParse   = -32700
	CodeInvalid = -32600
)

// newGate returns a gate to a client.
func newGate(in io.Reader, out io.Writer) *gate {
	g := &gate{in: bufio.NewReaderSize(in, 1<<16), out: out, waiting: make(map[string]bool)}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// Read reads the next message that is one.
func (g *gate) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		line, long, err := g.line()
		if long {
			err = g.refuse(nil, CodeInvalid, fmt.Sprintf("a message has at most %d bytes", MaxMessage))
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			if checked := g.check(line); checked != nil {
				return 0, checked
			}
		}
		if err != nil && len(g.rest) == 0 {
			g.wait()
			return 0, err
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// line reads a line, unless it is too long.
func (g *gate) line() (line []byte, long bool, err error) {
	for {
		part, err := g.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxMessage; !long {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}

// wait waits until all requests are answered.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) > 0 {
		g.changed.Wait()
	}
}

// check lets a message through, or answers it.
func (g *gate) check(line []byte) error {
	var m map[string]json.RawMessage
	switch {
	case !utf8.Valid(line) || depth(line) <= maxNesting && !json.Valid(line):
		return g.refuse(nil, CodeParse, "a message is one line of JSON in UTF-8")
	case depth(line) > maxNesting:
		return g.refuse(nil, CodeInvalid, fmt.Sprintf("a message has values in at most %d others", maxNesting))
	case json.Unmarshal(line, &m) != nil || m == nil:
		return g.refuse(nil, CodeInvalid, "a message is one object: there are no batches")
	}
	if m["method"] == nil && (m["result"] != nil || m["error"] != nil) {
		return nil // an answer, though nothing was asked
	}
	id, named := m["id"]
	if named && !isID(id) {
		return g.refuse(nil, CodeInvalid, "an id is a text or a whole number")
	}
	method, wrong := methodOf(m)
	if wrong != "" {
		return g.refuse(id, CodeInvalid, wrong)
	}
	for name := range m { // names that differ by case alone would be taken for these
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params"}, name) {
			delete(m, name)
		}
	}
	g.note(id, method, m["params"])
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(m) // ends the line
	g.rest = b.Bytes()
	return err
}

// methodOf returns the method of a request or notification, or else its fault.
func methodOf(m map[string]json.RawMessage) (method, wrong string) {
	var name *string
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
		return "", `the version of JSON-RPC is "2.0"`
	case json.Unmarshal(m["method"], &name) != nil || name == nil:
		return "", "a message has a method, which is a text"
	case len(*name) > MaxEcho:
		return "", "there is no method with so long a name"
	}
	return *name, ""
}

// note notes which requests are to be answered. Those that are cancelled need not be.
func (g *gate) note(id json.RawMessage, method string, params json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if id != nil {
		g.waiting[idKey(id)] = true
		return
	}
	var cancelled struct{ RequestID json.RawMessage }
	if method == "notifications/cancelled" && json.Unmarshal(params, &cancelled) == nil {
		delete(g.waiting, idKey(cancelled.RequestID))
		g.changed.Broadcast()
	}
}

// Write writes a message of the server.
func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, err := g.out.Write(p)
	var m struct {
		ID     json.RawMessage
		Method *string
	}
	if json.Unmarshal(p, &m) == nil && m.Method == nil {
		delete(g.waiting, idKey(m.ID))
	}
	if err != nil { // nobody reads the others
		clear(g.waiting)
	}
	g.changed.Broadcast()
	return n, err
}

// refuse answers what is no message.
func (g *gate) refuse(id json.RawMessage, code int, why string) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := fmt.Fprintf(g.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code, desk.QuoteJSON(why))
	return err
}

// isID reports whether an answer can have a value as its id.
func isID(id json.RawMessage) bool {
	const most = 1 << 53 // that a number holds to the last digit
	n, err := strconv.ParseInt(string(id), 10, 64)
	return id[0] == '"' || err == nil && n >= -most && n <= most
}

// idKey returns an id in one spelling.
func idKey(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return "text " + text
	}
	return string(bytes.TrimSpace(id))
}

// depth returns in how many others the innermost value of JSON lies.
func depth(text []byte) int {
	now, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}

// shortened returns a text that is not too long for an error.
func shortened(text string) string {
	if len(text) <= MaxEcho {
		return text
	}
	head := text[:MaxEcho/2]
	for len(head) > 0 && !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	tail := text[len(text)-MaxEcho/2:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + " " + show.Ellipsis + " " + tail
}
