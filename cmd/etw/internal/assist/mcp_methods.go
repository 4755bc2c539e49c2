package assist

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/each"
)

// The versions of the protocol, the newest first. A client of the stateless one begins
// nothing, and says its version in each request; the others initialize.
var (
	stateless = "2026-07-28"
	versions  = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

func supported() []string { return append([]string{stateless}, versions...) }

// metaName begins the names that the protocol has within _meta.
const metaName = "io.modelcontextprotocol/"

// A method answers requests.
type method struct {
	answer func(s *server, ctx context.Context, m *message) (map[string]any, error)
	has    traits
}

// traits are those of a method.
type traits uint8

const (
	needsParams traits = 1 << iota
	inStateless        // clients of the stateless version have it
	inSessions         // the others have it
	takesLong          // it is answered beside others
)

var methods = map[string]method{
	"initialize":               {(*server).initialize, needsParams | inSessions},
	"ping":                     {empty, inSessions},
	"logging/setLevel":         {empty, needsParams | inSessions}, // nothing is logged
	"server/discover":          {discover, inStateless},
	"tools/list":               {listTools, inStateless | inSessions},
	"tools/call":               {(*server).callTool, needsParams | inStateless | inSessions | takesLong},
	"resources/list":           {listResources, inStateless | inSessions},
	"resources/templates/list": {listTemplates, inStateless | inSessions},
	"resources/read":           {(*server).readResource, needsParams | inStateless | inSessions | takesLong},
	"prompts/list":             {listPrompts, inStateless | inSessions},
	"prompts/get":              {getPrompt, needsParams | inStateless | inSessions},
	"completion/complete":      {nil, needsParams}, // nobody has it, whatever is asked
}

// admit returns the method of a request, unless there is a fault in how it is asked.
func (s *server) admit(m *message) (method, error) {
	var err error
	if m.stateless, err = m.isStateless(); err != nil {
		return method{}, err
	}
	x, known := methods[m.method]
	mode := inSessions
	if m.stateless {
		mode = inStateless
	}
	switch {
	case strings.HasPrefix(m.method, "notifications/"):
		err = faultf(CodeInvalid, "a notification has no id")
	case x.has&needsParams != 0 && m.params == nil && m.fault == nil:
		err = faultf(CodeInvalid, "%s needs params", m.method)
	case !known || x.has&mode == 0:
		err = faultf(codeMethod, "there is no method %q", m.method)
	case m.fault != nil:
		err = m.fault
	case !m.stateless && !s.begun && m.method != "initialize" && m.method != "ping":
		err = faultf(codeEarly, "initialize comes before %s", m.method)
	case m.textOf("cursor") != "":
		err = faultf(codeParams, "there is no such cursor: lists have one page")
	}
	return x, err
}

// answer returns the result of a request.
func (s *server) answer(ctx context.Context, x method, m *message) (map[string]any, error) {
	result, err := x.answer(s, ctx, m)
	if err == nil && m.stateless {
		result["resultType"], result["_meta"] = "complete", map[string]any{metaName + "serverInfo": identity()}
	}
	return result, err
}

// isStateless reports whether a request is one of the stateless version.
func (m *message) isStateless() (bool, error) {
	var meta map[string]json.RawMessage
	if m.params["_meta"] == nil || json.Unmarshal(m.params["_meta"], &meta) != nil {
		return false, nil
	}
	version := (&message{params: meta}).textOf(metaName + "protocolVersion")
	if version < stateless {
		return false, nil
	}
	for _, name := range []string{"clientInfo", "clientCapabilities"} {
		var object map[string]json.RawMessage
		if json.Unmarshal(meta[metaName+name], &object) != nil || object == nil {
			return false, faultf(codeParams, "_meta has no object %s%s", metaName, name)
		}
	}
	if version != stateless {
		f := faultf(codeVersion, "the version %q is not known", shortened(version))
		f.Data = map[string]any{"supported": supported(), "requested": shortened(version)}
		return false, f
	}
	return true, nil
}

// identity returns who the server is.
func identity() map[string]any {
	return map[string]any{"name": "etw", "title": "ETW and EventPipe traces", "version": command.Version()}
}

// capabilities returns the features of the server.
func capabilities() map[string]any {
	none := map[string]any{}
	return map[string]any{"tools": none, "resources": none, "prompts": none}
}

// initialize begins a session.
func (s *server) initialize(_ context.Context, m *message) (map[string]any, error) {
	if s.begun {
		return nil, faultf(CodeInvalid, "initialize was answered before")
	}
	s.begun = true
	version := m.textOf("protocolVersion")
	if !slices.Contains(versions, version) {
		version = versions[0]
	}
	return map[string]any{"protocolVersion": version, "capabilities": capabilities(), "serverInfo": identity(), "instructions": assistantGuide}, nil
}

func discover(*server, context.Context, *message) (map[string]any, error) {
	return listed("supportedVersions", supported(), "capabilities", capabilities(), "instructions", assistantGuide), nil
}

func empty(*server, context.Context, *message) (map[string]any, error) {
	return map[string]any{}, nil
}

// listed returns a result that clients may keep, though not for long.
func listed(pairs ...any) map[string]any {
	result := map[string]any{"ttlMs": 0, "cacheScope": "public"}
	for i := 0; i < len(pairs); i += 2 {
		result[pairs[i].(string)] = pairs[i+1]
	}
	return result
}

func listTools(s *server, _ context.Context, _ *message) (map[string]any, error) {
	readOnly := map[string]any{"readOnlyHint": true, "openWorldHint": false, "idempotentHint": false}
	list := each.Of(s.tools, func(t *tool) any {
		return map[string]any{"name": t.Name, "description": t.about, "inputSchema": t.schema(), "annotations": readOnly}
	})
	return listed("tools", list), nil
}

// callTool calls a tool. Its error is its answer, for the assistant to read.
func (s *server) callTool(ctx context.Context, m *message) (map[string]any, error) {
	name := m.textOf("name")
	i := slices.IndexFunc(s.tools, func(t *tool) bool { return t.Name == name })
	if i < 0 {
		return nil, faultf(codeParams, "there is no tool %q", name)
	}
	t, in := s.tools[i], map[string]any{}
	err := error(nil)
	if given := m.params["arguments"]; given != nil && json.Unmarshal(given, &in) != nil {
		err = fmt.Errorf("arguments are an object")
	}
	var answer []byte
	if err == nil {
		err = t.check(in)
	}
	if err == nil {
		answer, err = t.Call(ctx, s.desk, in)
	}
	if err != nil {
		text := shortened(fmt.Sprintf("%s: %v", t.Name, err))
		return map[string]any{"content": []any{textContent(text)}, "isError": true}, nil
	}
	return map[string]any{"content": []any{textContent(string(answer))}}, nil
}

func textContent(text string) map[string]any {
	return map[string]any{"type": "text", "text": text}
}
