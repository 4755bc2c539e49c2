package assist

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etwgen/etwgen/analysis/samples"
	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/code"
	"github.com/etwgen/etwgen/cmd/etw/internal/desk"
	"github.com/etwgen/etwgen/cmd/etw/internal/show"
	"github.com/etwgen/etwgen/internal/each"
	"github.com/etwgen/etwgen/internal/order"
)

// The Parameters that tools have in common.
var (
	oneTrace  = parameter{Name: "trace", kind: "trace", about: "the trace: the handle that open_trace gave, or a path in the allowed folders", Needed: true}
	traceA    = parameter{Name: "a", kind: "traces", about: "the trace of before, or several recordings of it: handles or paths", Needed: true}
	traceB    = parameter{Name: "b", kind: "traces", about: "the trace of after, or several recordings of it", Needed: true, dash: true}
	whoseName = parameter{Name: "provider", kind: "string", about: "the provider, such as clr or System.Net.Http; without it all are listed"}
	eventName = parameter{Name: "event", kind: "string", about: "only this event of the provider, such as GC/Start"}
)

// taken are the arguments that commands take in place of one trace, before the flags, in the
// order of the command line.
var taken = map[string][]parameter{
	"compare": {traceA, traceB},
	"events":  {whoseName, eventName},
}

// A parameter is an input of a tool.
type parameter struct {
	Name   string
	kind   string // trace, traces, folder, string, strings, time, integer, number or boolean
	about  string
	Needed bool
	oneOf  []string
	least  int  // of a number
	most   int  // of a number that has bounds, or 0
	flag   bool // it is one of the command
	dash   bool // -- stands before it; otherwise before all that is no flag
}

// A tool is an offer of the server.
type tool struct {
	Name       string
	about      string
	Parameters []parameter
	Call       func(ctx context.Context, d *desk.Desk, in map[string]any) ([]byte, error)
}

// The Parameters that say how much of an answer is wanted.
var (
	rowsWanted  = parameter{Name: "rows", kind: "integer", about: "how many rows of the answer to show, 20 if it is left out, 500 at most, and of each list in them no more; an answer keeps 10000", most: mostRows}
	bytesWanted = parameter{Name: "bytes", kind: "integer", about: "how long the answer may be in bytes, 16384 if it is left out, 1024 to 131072", least: fewestLength, most: MostLength}
)

const (
	usualRows, mostRows                   = 20, 500
	fewestLength, UsualLength, MostLength = 1 << 10, 16 << 10, 128 << 10

	usualEvents  = 1000  // that dump tells
	bucketsShown = 50    // of a timeline
	mostRanked   = 10000 // rows of an answer, with those that more shows
)

// Tools returns all tools: those that handle traces, and one for each command that can be
// asked.
func Tools(root *cobra.Command) []*tool {
	list := []*tool{
		{"list_traces", "List the traces in the allowed folders, the newest first.", []parameter{rowsWanted, bytesWanted}, listTraces},
		{"open_trace", "Open a trace: its kind, losses, which processes and providers it has, and which questions it answers. Returns its handle; findings in it are kept under it.",
			[]parameter{oneTrace, rowsWanted, bytesWanted}, openTrace},
		{"close_trace", "Forget a trace and the findings in it.", []parameter{{Name: "trace", kind: "string", about: "the handle", Needed: true}}, closeTrace},
		{"more", "Show more of an answer that was cut: its fields result and cut name the lists with more.", []parameter{
			{Name: "result", kind: "string", about: "the field result of the answer", Needed: true},
			{Name: "path", kind: "string", about: "which list, as cut names it; /rows if it is left out"},
			{Name: "offset", kind: "integer", about: "the first element to show, from 0 on"},
			rowsWanted, bytesWanted,
		}, more},
	}
	for _, cmd := range root.Commands() {
		if _, ok := cmd.Annotations[cli.Asked]; ok {
			list = append(list, toolOf(cmd))
		}
	}
	return list
}

// toolOf returns the tool of a command.
func toolOf(cmd *cobra.Command) *tool {
	takes, ok := taken[cmd.Name()]
	if !ok {
		takes = []parameter{oneTrace}
	}
	t := &tool{Name: cmd.Name(), about: aboutCommand(cmd), Parameters: slices.Clone(takes)}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if kind, ok := desk.Inputs[f.Name]; ok && !f.Hidden {
			t.Parameters = append(t.Parameters, parameterOf(f, kind))
		}
	})
	t.Parameters = append(t.Parameters, rowsWanted, bytesWanted)
	limit, top := cmd.Flags().Lookup("limit") != nil, cmd.Flags().Lookup("top") != nil
	buckets := cmd.Flags().Lookup("buckets") != nil
	t.Call = func(ctx context.Context, d *desk.Desk, in map[string]any) ([]byte, error) {
		args := []string{t.Name, "--format=json"}
		if _, ok := in["limit"]; limit && !ok {
			args = append(args, "--limit="+strconv.Itoa(usualEvents))
		}
		switch _, ok := in["buckets"]; {
		case buckets && !ok: // as many as are shown of a list of numbers
			args = append(args, "--buckets="+strconv.Itoa(bucketsShown))
		case top && !buckets: // an answer has rows where they are asked for
			args = append(args, "--top="+strconv.Itoa(mostRanked))
		}
		return t.ask(ctx, d, in, args)
	}
	return t
}

// aboutCommand returns the first part of a command's help. The rest is a guide to read.
func aboutCommand(cmd *cobra.Command) string {
	first, _, _ := strings.Cut(cmd.Long, "\n\n")
	return cmd.Short + ".\n\n" + strings.ReplaceAll(first, "\n", " ")
}

// parameterOf returns the input for a flag.
func parameterOf(f *pflag.Flag, kind string) parameter {
	_, usage := pflag.UnquoteUsage(f)
	p := parameter{Name: f.Name, kind: kind, about: strings.ReplaceAll(usage, "\n", " "), flag: true}
	if kind != "" {
		return p
	}
	switch f.Value.Type() {
	case "bool":
		p.kind = "boolean"
	case "int", "int64":
		p.kind = "integer"
	case "float64":
		p.kind = "number"
	case "string", "duration":
		p.kind = "string"
	default:
		p.kind = "strings"
	}
	switch f.Name {
	case "from", "to":
		p.kind, p.about = "time", p.about+"; a number is of milliseconds"
	case "limit":
		p.about += fmt.Sprintf("; %d if it is left out", usualEvents)
	case "buckets":
		p.about = fmt.Sprintf("part the time into so many buckets, %d if it is left out; an answer has the first 64 numbers of a list, and more shows the others", bucketsShown)
	case "of":
		p.oneOf = samples.Names()
	case "names":
		p.oneOf = code.Namings
	}
	return p
}

// schema returns the schema of the inputs.
func (t *tool) schema() json.RawMessage {
	properties, needed := map[string]any{}, []string{}
	for _, p := range t.Parameters {
		s := map[string]any{"type": p.kind, "description": p.about}
		switch p.kind {
		case "trace", "folder":
			s["type"] = "string"
		case "traces":
			s["type"], s["items"] = []string{"string", "array"}, map[string]any{"type": "string"}
		case "strings":
			s["type"], s["items"] = []string{"array", "string", "number"}, map[string]any{"type": []string{"string", "number"}}
		case "time":
			s["type"] = []string{"string", "number"}
		}
		if p.most > 0 {
			s["minimum"], s["maximum"] = p.least, p.most
		}
		if len(p.oneOf) > 0 {
			s["enum"] = p.oneOf
		}
		properties[p.Name] = s
		if p.Needed {
			needed = append(needed, p.Name)
		}
	}
	text, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": needed, "additionalProperties": false})
	if err != nil { // there is nothing in it that could not be written
		panic(err)
	}
	return text
}

// check holds inputs against the schema.
func (t *tool) check(in map[string]any) error {
	for name := range in {
		if !slices.ContainsFunc(t.Parameters, func(p parameter) bool { return p.Name == name }) {
			names := each.Of(t.Parameters, func(p parameter) string { return p.Name })
			return fmt.Errorf("there is no input %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	for _, p := range t.Parameters {
		v, ok := in[p.Name]
		switch text, _ := v.(string); {
		case !ok && p.Needed:
			return fmt.Errorf("the input %s is needed: %s", p.Name, p.about)
		case !ok:
		case !p.takes(v):
			return fmt.Errorf("the input %s cannot be %v: %s", p.Name, v, p.about)
		case len(p.oneOf) > 0 && !slices.Contains(p.oneOf, text):
			return fmt.Errorf("the input %s cannot be %v: it is one of %s", p.Name, v, strings.Join(p.oneOf, ", "))
		}
	}
	return nil
}

// takes reports whether a value is of the kind of an input, and within its bounds.
func (p *parameter) takes(v any) bool {
	text, number, list := false, false, false
	switch v := v.(type) {
	case string:
		text = true
	case float64:
		number = p.most == 0 || v >= float64(p.least) && v <= float64(p.most)
		if p.kind == "integer" {
			number = number && v == math.Trunc(v)
		}
	case bool:
		return p.kind == "boolean"
	case []any:
		one := parameter{kind: map[string]string{"traces": "string", "strings": "time"}[p.kind]} // of which the elements are
		list = !slices.ContainsFunc(v, func(x any) bool { return !one.takes(x) })
	}
	switch p.kind {
	case "trace", "folder", "string":
		return text
	case "traces":
		return text || list
	case "strings":
		return text || number || list
	case "time":
		return text || number
	case "integer", "number":
		return number
	}
	return false
}

// ask runs the command of a tool.
func (t *tool) ask(ctx context.Context, d *desk.Desk, in map[string]any, args []string) ([]byte, error) {
	var opened *desk.OpenedTrace
	operands := []string{"--"}
	if slices.ContainsFunc(t.Parameters, func(p parameter) bool { return p.dash }) {
		operands = nil
	}
	for _, p := range t.Parameters {
		v, ok := in[p.Name]
		if !ok || p.Name == rowsWanted.Name || p.Name == bytesWanted.Name {
			continue
		}
		texts := textsOf(v)
		if _, ok := v.(float64); ok && p.kind == "time" {
			texts[0] += "ms"
		}
		if p.dash {
			operands = append(operands, "--")
		}
		for i, text := range texts {
			switch p.kind {
			case "trace", "traces":
				x, err := d.Trace(text)
				if err != nil {
					return nil, err
				}
				opened = cmp.Or(opened, x) // the first one
				texts[i] = x.Path
			case "folder":
				path, err := d.Resolve(text, true)
				if err != nil {
					return nil, err
				}
				texts[i] = path
			}
			switch {
			case !p.flag:
				operands = append(operands, texts[i])
			case texts[i] != "":
				args = append(args, "--"+p.Name+"="+texts[i])
			}
		}
	}
	r, err := d.Ask(ctx, opened, append(args, operands...))
	if err != nil {
		return nil, err
	}
	return shownOf(d, opened, r, in)
}

// textsOf returns the values of an input as a command line has them.
func textsOf(v any) []string {
	switch v := v.(type) {
	case []any:
		var list []string
		for _, x := range v {
			list = append(list, textsOf(x)...)
		}
		return list
	case string:
		return []string{v}
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return []string{fmt.Sprint(v)}
}

// show returns as much of an answer as is wanted.
func shownOf(d *desk.Desk, t *desk.OpenedTrace, r *desk.Reply, in map[string]any) ([]byte, error) {
	rows, length := wanted(in)
	handle := ""
	more := ""
	if t != nil {
		handle = t.Handle
		more = fmt.Sprintf(`"handle":%q,`, handle)
	}
	more += fmt.Sprintf(`"result":%q,`, d.Give(handle, r.Doc).ID)
	return desk.Fit(r.Doc, more, rows, length)
}

// wanted returns how many rows and bytes an answer may have.
func wanted(in map[string]any) (rows, length int) {
	rows, length = usualRows, UsualLength
	if v, ok := in[rowsWanted.Name].(float64); ok {
		rows = int(min(max(v, 0), mostRows))
	}
	if v, ok := in[bytesWanted.Name].(float64); ok {
		length = int(min(max(v, fewestLength), MostLength))
	}
	return rows, length
}

// openTrace answers open_trace with the output of info.
func openTrace(ctx context.Context, d *desk.Desk, in map[string]any) ([]byte, error) {
	t, err := d.Trace(fmt.Sprint(in["trace"]))
	if err != nil {
		return nil, err
	}
	r, err := d.Ask(ctx, t, []string{"info", "--all", "--format=json", "--", t.Path})
	if err != nil {
		d.Close(t.Handle) // there is nothing to look at
		return nil, err
	}
	if rows := r.Doc.Find("/rows"); rows == nil || len(rows.Items) == 0 {
		d.Close(t.Handle)
		var said []string
		for _, w := range r.Doc.Find("/warnings").Items {
			said = append(said, w.String())
		}
		return nil, errors.New(strings.Join(said, "; "))
	}
	return shownOf(d, t, r, in)
}

// closeTrace answers close_trace.
func closeTrace(_ context.Context, d *desk.Desk, in map[string]any) ([]byte, error) {
	handle := fmt.Sprint(in["trace"])
	if err := d.Close(handle); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"closed":%q}`, handle), nil
}

// more answers more: elements of a list of an answer.
func more(_ context.Context, d *desk.Desk, in map[string]any) ([]byte, error) {
	a, err := d.Answer(fmt.Sprint(in["result"]))
	if err != nil {
		return nil, err
	}
	path := "/rows"
	if v, ok := in["path"].(string); ok && v != "" {
		path = v
	}
	list := a.Doc.Find(path)
	if list == nil || list.Kind != '[' {
		return nil, fmt.Errorf("the answer has no list at %q", path)
	}
	offset := 0
	if v, ok := in["offset"].(float64); ok {
		offset = int(min(max(v, 0), float64(len(list.Items))))
	}
	rows, length := wanted(in)
	for _, s := range desk.Narrower(rows) {
		shown := min(s.Rows, len(list.Items)-offset)
		b := fmt.Appendf(nil, `{"result":%q,"path":%s,"offset":%d,"shown":%d,"of":%d,"rows":`, a.ID, desk.QuoteJSON(path), offset, shown, len(list.Items))
		b = s.AppendCuts(append(s.AppendItems(b, list, path, offset, shown), '}'))
		if len(b) <= length {
			return b, nil
		}
	}
	return nil, fmt.Errorf("not one element fits into %d bytes: allow more", length)
}

// traceSuffixes are those of the names of traces.
var traceSuffixes = []string{".nettrace", ".netperf", ".etl", ".nettrace.gz", ".netperf.gz", ".etl.gz", ".etl.zip", ".nettrace.zip", ".gcdump", ".gcdump.gz"}

// mostEntries is how many files and folders are looked at for traces.
const mostEntries = 100_000

// listTraces answers list_traces.
func listTraces(ctx context.Context, d *desk.Desk, in map[string]any) ([]byte, error) {
	t := show.NewTable(show.Word("path"), show.Word("handle"), show.Num("sizeBytes"), show.Word("modified"))
	about := new(show.About)
	left := mostEntries
	for _, root := range d.Roots {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if left--; left < 0 {
				about.Warn(fmt.Sprintf("there are more than %d files and folders: not all were looked at", mostEntries))
				return fs.SkipAll
			}
			if err != nil || !e.Type().IsRegular() || !slices.ContainsFunc(traceSuffixes, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(path), suffix) }) {
				return ctx.Err()
			}
			if info, err := e.Info(); err == nil {
				t.Add(path, d.HandleOf(path), strconv.FormatInt(info.Size(), 10), info.ModTime().UTC().Format(time.RFC3339))
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	order.Stable(t.Rows, func(a, b []string) int { return strings.Compare(b[3], a[3]) })
	var b bytes.Buffer
	p := &show.Printer{Writer: bufio.NewWriter(&b), Format: show.FormatJSON, About: about}
	if err := p.Close(t.Write(p)); err != nil {
		return nil, err
	}
	doc, err := desk.ParseNodes(b.Bytes())
	if err != nil {
		return nil, err
	}
	return shownOf(d, nil, &desk.Reply{Doc: doc}, in)
}

// toolTable lists the tools, for people.
func toolTable(root *cobra.Command) *show.Table {
	t := show.NewTable(show.Word("tool"), show.Word("inputs"), show.Word("about").CutAtEnd())
	for _, x := range Tools(root) {
		names := each.Of(x.Parameters, func(p parameter) string { return p.Name })
		about, _, _ := strings.Cut(x.about, "\n")
		t.Add(x.Name, strings.Join(names, " "), about)
	}
	return t
}
