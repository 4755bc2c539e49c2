package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/etwgen/etwgen/cmd/etw/internal/assist"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// assistant starts a server, and returns a client of it.
func assistant(t *testing.T, args ...string) *mcp.ClientSession {
	t.Helper()
	cmd := etwProcess(t, append([]string{"mcp"}, args...)...)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
	})
	return session
}

// A told is the common part of all answers of tools.
type told struct {
	Handle, Result string
	Schema         int
	Warnings       []string
	Trace          *show.TracesTold
	Next           []show.Suggestion
	Rows           []map[string]any
	Cut            []desk.Cut
	Offset, Shown  int
	Of             int

	text string
}

// tell calls a tool. Its answer is within its bounds.
func tell(t *testing.T, s *mcp.ClientSession, name string, in map[string]any) *told {
	t.Helper()
	text, failed := callTool(t, s, name, in)
	if failed {
		t.Fatalf("%s %v: %s", name, in, text)
	}
	limit := assist.UsualLength
	if n, ok := in["bytes"].(int); ok {
		limit = n
	}
	if len(text) > limit {
		t.Errorf("%s %v: %d bytes, of %d", name, in, len(text), limit)
	}
	answer := &told{text: text}
	if err := json.Unmarshal([]byte(text), answer); err != nil {
		t.Fatalf("%s %v: %v: %.300s", name, in, err, text)
	}
	return answer
}

// callTool returns the text that a tool answers, and whether it is an error.
func callTool(t *testing.T, s *mcp.ClientSession, name string, in map[string]any) (text string, failed bool) {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: in})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range res.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, res.IsError
}

// TestAssistant investigates as an assistant does: it looks around, ranks, looks into the
// findings, and compares.
func TestAssistant(t *testing.T) {
	dir := exampleFolder(t)
	s := assistant(t, "--root", dir)
	list := tell(t, s, "list_traces", map[string]any{"rows": 100})
	if len(list.Rows) < 10 {
		t.Errorf("%d traces: %s", len(list.Rows), list.text)
	}
	gc := tell(t, s, "open_trace", map[string]any{"trace": "gc.nettrace"})
	if gc.Handle != "t1" || gc.Trace == nil || *gc.Trace.Events != 203 || !strings.Contains(gc.text, `"etw gc `) {
		t.Errorf("opened: %s", gc.text)
	}
	ranked := tell(t, s, "gc", map[string]any{"trace": gc.Handle, "rows": 2})
	if len(ranked.Rows) != 2 || ranked.Schema == 0 || ranked.Rows[0]["pauseMs"].(float64) < ranked.Rows[1]["pauseMs"].(float64) {
		t.Fatalf("ranked: %s", ranked.text)
	}
	if !slices.ContainsFunc(ranked.Cut, func(c desk.Cut) bool { return c.Path == "/rows" && c.Shown == 2 && c.Of > 2 }) {
		t.Errorf("nothing is cut: %s", ranked.text)
	}
	rest := tell(t, s, "more", map[string]any{"result": ranked.Result, "offset": 2, "rows": 3})
	if rest.Offset != 2 || rest.Shown != 3 || len(rest.Rows) != 3 || rest.Rows[0]["pauseMs"].(float64) > ranked.Rows[1]["pauseMs"].(float64) {
		t.Errorf("more: %s", rest.text)
	}
	start := ranked.Rows[0]["startMs"].(float64)
	drilled := tell(t, s, "gc", map[string]any{"trace": gc.Handle, "from": fmt.Sprintf("%.4fms", start-0.001), "to": fmt.Sprintf("%.4fms", start+0.5)})
	if len(drilled.Rows) == 0 || len(drilled.Rows) >= ranked.Cut[0].Of || len(drilled.Warnings) == 0 {
		t.Errorf("drilled: %s", drilled.text)
	}
	top := tell(t, s, "top", map[string]any{"trace": "cpu.nettrace", "rows": 5})
	tree := tell(t, s, "tree", map[string]any{"trace": top.Handle, "root": top.Rows[0]["method"]})
	if top.Rows[0]["selfMs"] == nil || len(tree.Rows) == 0 || tree.Trace.NamedPercent == nil {
		t.Errorf("top: %s\ntree: %s", top.text, tree.text)
	}
	compared := tell(t, s, "compare", map[string]any{"a": gc.Handle, "b": "alloc.nettrace"})
	if len(compared.Trace.Files) != 2 || !strings.Contains(compared.text, `"changePercent"`) {
		t.Errorf("compared: %s", compared.text)
	}
	if text, failed := callTool(t, s, "close_trace", map[string]any{"trace": gc.Handle}); failed {
		t.Error(text)
	}
	if text, failed := callTool(t, s, "more", map[string]any{"result": ranked.Result}); !failed {
		t.Errorf("an answer of a trace that is closed: %s", text)
	}
}

// TestAssistantReads reads the resources, and the prompts.
func TestAssistantReads(t *testing.T) {
	s := assistant(t, "--root", t.TempDir())
	resources, err := s.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) < 5 {
		t.Fatal(resources, err)
	}
	uris := []string{"etw://guides/gc", "etw://keywords/System.Net.Http", "etw://events/rundown"}
	for _, r := range resources.Resources {
		uris = append(uris, r.URI)
	}
	for _, uri := range uris {
		got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(got.Contents) != 1 || len(got.Contents[0].Text) < 30 || len(got.Contents[0].Text) > assist.MostText+200 {
			t.Errorf("%s: %v, %v", uri, got, err)
		}
	}
	for _, uri := range []string{"etw://guides/nothing", "etw://events/nobody", "etw://other/gc", "file:///etc/passwd", "etw://guides/..%2f..%2fetc%2fpasswd"} {
		if got, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %v", uri, got.Contents[0].Text)
		}
	}
	prompts, err := s.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 4 {
		t.Fatal(prompts, err)
	}
	known, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range prompts.Prompts {
		got, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: map[string]string{"trace": "t7"}})
		if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, `"t7"`) {
			t.Errorf("%s: %v, %v", p.Name, got, err)
		}
	}
	for _, tool := range known.Tools {
		if tool.Description == "" || tool.InputSchema == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%+v", tool)
		}
	}
	for _, cmd := range newRoot().Commands() {
		isTool := slices.ContainsFunc(known.Tools, func(tool *mcp.Tool) bool { return tool.Name == cmd.Name() })
		asks, records := cmd.GroupID == groupAsk || cmd.GroupID == groupBox, cmd.GroupID == groupRecord
		if asks && !isTool || records && isTool {
			t.Errorf("%s: it is a tool: %v", cmd.Name(), isTool)
		}
	}
}

// TestAssistantPaths: nothing outside of the roots is read, however it is called.
func TestAssistantPaths(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	for _, dir := range []string{outside, root} {
		testio.Write(t, filepath.Join(dir, "gc.nettrace"), recorded(t, "gc.nettrace"))
	}
	secret := filepath.Join(outside, "gc.nettrace")
	rel, err := filepath.Rel(root, secret)
	if err != nil {
		t.Fatal(err)
	}
	hostile := []string{secret, rel, "", ".", "-", "..", root, "nothing.nettrace", "gc.nettrace\x00", "--help", "gc.nettrace/../" + rel, "file://" + secret, "/dev/stdin", "/proc/self/environ"}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"link.nettrace": secret, "folder": outside, "up": ".."} {
			if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
		hostile = append(hostile, "link.nettrace", "folder/gc.nettrace", "up/"+filepath.Base(root)+"/../"+filepath.Base(outside)+"/gc.nettrace")
	}
	s := assistant(t, "--root", root)
	for _, path := range hostile {
		for tool, in := range map[string]map[string]any{
			"open_trace": {"trace": path}, "gc": {"trace": path}, "top": {"trace": "gc.nettrace", "diff": path}, "tree": {"trace": "gc.nettrace", "symbols": path}, "compare": {"a": "gc.nettrace", "b": path},
		} {
			if tool == "tree" && (path == "." || path == root) { // a folder below the root
				continue
			}
			if text, failed := callTool(t, s, tool, in); !failed || strings.Contains(text, "GCKeyword") {
				t.Errorf("%s %q: %s", tool, path, text)
			}
		}
	}
	for _, in := range []map[string]any{
		{"trace": "gc.nettrace", "output": "x"}, {"trace": "gc.nettrace", "manifest": secret}, {"trace": 7}, {"rows": 3}, {"trace": "gc.nettrace", "top": "many"},
		{"trace": "gc.nettrace", "by": "nothing"}, {"trace": "gc.nettrace", "bytes": "all"}, {},
	} {
		if text, failed := callTool(t, s, "gc", in); !failed {
			t.Errorf("gc %v: %s", in, text)
		}
	}
	if text, failed := callTool(t, s, "gc", map[string]any{"trace": "gc.nettrace"}); failed {
		t.Error(text)
	}
}

// TestAssistantBounds asks everything of a trace with tight bounds: answers fit, are valid,
// and begin with cautions.
func TestAssistantBounds(t *testing.T) {
	dir := exampleFolder(t)
	d, err := desk.New(runIn, []string{dir}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]any{"trace": "cpu.nettrace", "a": "gc.nettrace", "b": "alloc.nettrace", "provider": "clr"}
	for _, tool := range assist.Tools(newRoot())[4:] {
		for _, bytes := range []int{2500, 6000, assist.MostLength} {
			in := map[string]any{"rows": 3.0, "bytes": float64(bytes)}
			for _, p := range tool.Parameters {
				if v, ok := given[p.Name]; ok && (p.Needed || p.Name == "provider" && tool.Name == "events") {
					in[p.Name] = v
				}
			}
			if in["trace"] != nil && (tool.Name == "processes" || tool.Name == "files") {
				in["trace"] = "machine.etl"
			}
			answer, err := tool.Call(t.Context(), d, in)
			if err != nil || len(answer) > bytes || !json.Valid(answer) {
				t.Errorf("%s in %d bytes: %d bytes, %v: %.300s", tool.Name, bytes, len(answer), err, answer)
				continue
			}
			if at, rows := strings.Index(string(answer), `"warnings":`), strings.Index(string(answer), `"rows":`); at < 0 || rows >= 0 && rows < at {
				t.Errorf("%s does not begin with warnings: %.300s", tool.Name, answer)
			}
		}
	}
}

// TestAssistantKeeps: a second look at a trace takes no second pass. That of a trace that is
// gone is answered, and that of one that has changed is read anew.
func TestAssistantKeeps(t *testing.T) {
	dir := exampleFolder(t)
	d, err := desk.New(runIn, []string{dir}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	x, err := d.Trace("cpu.nettrace")
	if err != nil {
		t.Fatal(err)
	}
	output := func(args ...string) {
		t.Helper()
		if _, err := d.Ask(t.Context(), x, append(args, "--format=json", "--", x.Path)); err != nil {
			t.Error(err)
		}
	}
	kept := func() int { return len(x.Shelf.Order) }
	output("top")
	if kept() != 2 { // the profile, and what was printed
		t.Errorf("%d results are kept: %q", kept(), x.Shelf.Order)
	}
	output("tree", "--root=Oven")
	output("top", "--by=stack", "--top=3")
	if kept() != 4 {
		t.Errorf("%d results are kept: %q", kept(), x.Shelf.Order)
	}
	output("gc", "--by=generation")
	output("gc", "--by=collection", "--top=3")
	if kept() != 7 {
		t.Errorf("%d results are kept: %q", kept(), x.Shelf.Order)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Ask(ctx, x, []string{"allocs", "--format=json", "--", x.Path}); err == nil || kept() != 7 {
		t.Errorf("cancelled: %v, %q", err, x.Shelf.Order)
	}
	before := slices.Clone(x.Shelf.Order)
	testio.Write(t, x.Path, recorded(t, "threads.nettrace"))
	output("top")
	if slices.Equal(before, x.Shelf.Order) {
		t.Error("what is kept of another file is answered")
	}
}

// TestAssistants has several clients ask at once, and one ask several things at once: each
// answer is the same as alone.
func TestAssistants(t *testing.T) {
	dir := exampleFolder(t)
	var wg sync.WaitGroup
	answers := make([]string, 8)
	sessions := []*mcp.ClientSession{assistant(t, "--root", dir), assistant(t, "--root", dir)}
	for i := range answers {
		wg.Go(func() {
			tool := []string{"gc", "allocs"}[i/2%2]
			text, failed := callTool(t, sessions[i%2], tool, map[string]any{"trace": "gc.nettrace"})
			if failed {
				t.Error(text)
			}
			var answer map[string]any
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Error(err)
			}
			delete(answer, "result") // a number that counts up
			answers[i] = fmt.Sprint(answer)
		})
	}
	wg.Wait()
	for i := range 4 {
		if answers[i] != answers[i+4] || answers[i] != answers[i^1] {
			t.Errorf("answer %d differs: %s, %s", i, answers[i], answers[i+4])
		}
	}
}

// TestAssistantCancel cancels a call: the server goes on to answer.
func TestAssistantCancel(t *testing.T) {
	s := assistant(t, "--root", filepath.Dir(recordedPath("gc.nettrace")))
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
		_, _ = s.CallTool(ctx, &mcp.CallToolParams{Name: "top", Arguments: map[string]any{"trace": "gc.nettrace", "of": "allocs"}})
		cancel()
	}
	if got := tell(t, s, "gc", map[string]any{"trace": "gc.nettrace"}); len(got.Rows) == 0 {
		t.Errorf("after calls that were cancelled: %s", got.text)
	}
}

// TestAssistantHuge: the largest trace there is has answers within bounds, also where
// reading it is not to take long.
func TestAssistantHuge(t *testing.T) {
	path := corpus.File(t, "nettrace", "HeartRateMonitor.10068.nettrace")
	s := assistant(t, "--root", filepath.Dir(path))
	for _, tool := range []string{"open_trace", "top", "tree", "gc"} {
		tell(t, s, tool, map[string]any{"trace": path, "rows": 500})
	}
	hasty := assistant(t, "--root", filepath.Dir(path), "--timeout", "1ms")
	text, failed := callTool(t, hasty, "gc", map[string]any{"trace": path})
	if !failed && !strings.Contains(text, "stopped after 1ms") || failed && !strings.Contains(text, "stopped after") {
		t.Errorf("in 1 ms: %s", text)
	}
}

// TestAssistantsPage runs the commands of the page about assistants, but for those that
// begin a server.
func TestAssistantsPage(t *testing.T) {
	text := testio.Read(t, filepath.Join("..", "..", "docs", "assistants.md"))
	t.Chdir(exampleFolder(t))
	ran := 0
	for line := range strings.Lines(string(text)) {
		words, ok := strings.CutPrefix(line, "    etw ")
		if !ok || strings.HasPrefix(words, "mcp --root") {
			continue
		}
		ran++
		if out, stderr, code := output(strings.Fields(words)...); code != 0 || out == "" {
			t.Errorf("%s: exit code %d, %s", words, code, stderr)
		}
	}
	if ran < 6 {
		t.Errorf("%d commands were found", ran)
	}
}
