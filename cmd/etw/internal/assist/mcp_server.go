package assist

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
)

// A server answers a client: a message is a line of JSON-RPC 2.0. Calls that may take long
// run beside, all else is answered in the order in which it came. Invalid messages are
// answered with an error, too. The server ends once the input does, and all is answered.
type server struct {
	desk  *desk.Desk
	tools []*tool
	in    *bufio.Reader
	begun bool // initialize was answered

	mu      sync.Mutex
	out     io.Writer
	fail    context.CancelCauseFunc       // ends the server
	calls   map[string]context.CancelFunc // of what runs beside, by id
	running sync.WaitGroup
}

// The limits of messages of a client.
const (
	MaxMessage = 1 << 20 // bytes
	maxNesting = 100     // of nesting
	MaxEcho    = 500     // bytes of an error, which may repeat what it is about
	maxCalls   = 1000    // that run at a time
)

// Codes of errors.
const (
	CodeParse   = -32700
	CodeInvalid = -32600
	codeMethod  = -32601
	codeParams  = -32602
	codeBusy    = -32000
	codeVersion = -32022
	codeEarly   = 0 // that of the protocol's conformance scripts
)

// A message is a request, or a notification if it has no id.
type message struct {
	id     json.RawMessage
	method string
	params map[string]json.RawMessage // nil if there are none
	fault  *fault                     // of params that are no object

	stateless bool // it is of the version without sessions
}

// A fault is why a request has no result.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

// faultf returns a fault.
func faultf(code int, format string, args ...any) *fault {
	return &fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// run answers until the input ends, the context does, or nobody takes the answers.
func (s *server) run(ctx context.Context) error {
	ctx, s.fail = context.WithCancelCause(ctx)
	defer s.fail(nil)
	go func() { s.fail(s.read(ctx)) }() // a read may last longer than the context
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// read reads messages and has them answered, until there are no more.
func (s *server) read(ctx context.Context) error {
	for {
		line, long, err := s.line()
		if line = bytes.TrimSpace(line); long {
			s.write(nil, nil, faultf(CodeInvalid, "a message has at most %d bytes", MaxMessage))
		} else if len(line) > 0 {
			s.take(ctx, line)
		}
		if err != nil {
			s.running.Wait()
			return err
		}
	}
}

// line reads a line, unless it is too long.
func (s *server) line() (line []byte, long bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxMessage; !long {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}

// take has a message answered.
func (s *server) take(ctx context.Context, line []byte) {
	m, wrong := messageOf(line)
	switch {
	case wrong != nil:
		s.write(m.id, nil, wrong)
	case m.id == nil:
		if id := m.params["requestId"]; m.method == "notifications/cancelled" && id != nil {
			s.ended(id)
		}
	case m.method != "":
		x, err := s.admit(&m)
		switch {
		case err != nil:
			s.write(m.id, nil, err)
		case x.has&takesLong != 0:
			s.beside(ctx, x, &m)
		default:
			result, err := s.answer(ctx, x, &m)
			s.write(m.id, result, err)
		}
	}
}

// beside has a request answered while others are read. One that was cancelled is not.
func (s *server) beside(ctx context.Context, x method, m *message) {
	ctx, cancel := context.WithCancel(ctx)
	if err := s.note(m.id, cancel); err != nil {
		cancel()
		s.write(m.id, nil, err)
		return
	}
	s.running.Go(func() {
		defer cancel()
		result, err := s.answer(ctx, x, m)
		if s.ended(m.id) {
			s.write(m.id, result, err)
		}
	})
}

// note notes a request that is to run beside.
func (s *server) note(id json.RawMessage, cancel context.CancelFunc) error {
	key := idKey(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch _, taken := s.calls[key]; {
	case taken:
		return faultf(CodeInvalid, "a request of this id is not answered yet")
	case len(s.calls) >= maxCalls:
		return faultf(codeBusy, "%d requests are not answered yet", maxCalls)
	}
	s.calls[key] = cancel
	return nil
}

// ended ends a request that runs beside, and reports whether there was one.
func (s *server) ended(id json.RawMessage) bool {
	key := idKey(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, ok := s.calls[key]
	if ok {
		cancel()
		delete(s.calls, key)
	}
	return ok
}

// write writes an answer. An error is no longer than it may be: it may repeat its subject.
func (s *server) write(id json.RawMessage, result map[string]any, err error) {
	m := struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  map[string]any  `json:"result,omitzero"`
		Error   *fault          `json:"error,omitempty"`
	}{"2.0", id, result, nil}
	if err != nil {
		m.Error = faultf(CodeInvalid, "%s", shortened(err.Error()))
		if f := (*fault)(nil); errors.As(err, &f) {
			m.Error.Code, m.Error.Data = f.Code, f.Data
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		s.fail(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(b.Bytes()); err != nil { // nobody reads the others
		s.fail(err)
	}
}

// messageOf returns the message of a line, or its fault. The method of one that asks for
// nothing is empty.
func messageOf(line []byte) (message, *fault) {
	var m map[string]json.RawMessage // by exact names
	switch nested := depth(line); {
	case nested > maxNesting:
		return message{}, faultf(CodeInvalid, "a message has values in at most %d others", maxNesting)
	case !utf8.Valid(line) || !json.Valid(line):
		return message{}, faultf(CodeParse, "a message is one line of JSON in UTF-8")
	case json.Unmarshal(line, &m) != nil || m == nil:
		return message{}, faultf(CodeInvalid, "a message is one object: there are no batches")
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil):
		return message{}, nil // an answer, though nothing was asked
	}
	id, named := m["id"]
	if named && !isID(id) {
		return message{}, faultf(CodeInvalid, "an id is a text or a whole number")
	}
	asked := message{id: id}
	var name *string
	switch {
	case string(m["jsonrpc"]) != `"2.0"`:
		return asked, faultf(CodeInvalid, `the version of JSON-RPC is "2.0"`)
	case json.Unmarshal(m["method"], &name) != nil || name == nil:
		return asked, faultf(CodeInvalid, "a message has a method, which is a text")
	}
	asked.method = *name
	if params := m["params"]; params != nil && json.Unmarshal(params, &asked.params) != nil {
		asked.fault = faultf(codeParams, "params are an object")
	}
	return asked, nil
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
	head, tail := text[:MaxEcho/2], text[len(text)-MaxEcho/2:]
	return strings.ToValidUTF8(head, "") + " " + show.Ellipsis + " " + strings.ToValidUTF8(tail, "")
}

// textOf returns a parameter that is a text, or an empty one.
func (m *message) textOf(name string) string {
	var text *string
	if json.Unmarshal(m.params[name], &text) != nil {
		return ""
	}
	return *cmp.Or(text, new(string))
}
