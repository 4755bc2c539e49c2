package look

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/cmd/etw/internal/cli"
	"github.com/etwgen/etwgen/cmd/etw/internal/pick"
	"github.com/etwgen/etwgen/cmd/etw/internal/show/showtest"
	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/testio"
)

// advice is for people, and so with text alone.
var advice = regexp.MustCompile(`(?m)^etw: nothing describes the payload of .*\n`)

// FuzzDump prints whatever it is given in every format: the lines of JSON are
// valid, and all formats have the same number of events.
func FuzzDump(f *testing.F) {
	for _, name := range []string{"alloc.nettrace", "eventsource.netperf", "eventsource.nettrace", "exceptions.nettrace", "service.etl"} {
		data := testio.Read(f, filepath.Join("../../../../tests/recorded", name))
		f.Add(data)
		f.Add(data[:len(data)*2/3])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dump := func(args ...string) ([]byte, int, []byte) {
			cmd := NewDump()
			cmd.RunE = pick.OverMappings(cmd.RunE)
			root := &cobra.Command{Use: "etw", SilenceErrors: true, SilenceUsage: true}
			command.Add(root, cmd)
			var stdout, stderr bytes.Buffer
			root.SetArgs(append(append([]string{"dump"}, args...), "--unpack-limit", "1M", "-"))
			root.SetIn(bytes.NewReader(data))
			root.SetOut(&stdout)
			root.SetErr(&stderr)
			ran, err := command.Execute(t.Context(), root)
			code := cli.ExitCode(ran, err)
			if code != 0 && (code != cli.ExitTrouble || stderr.Len() == 0) {
				t.Fatalf("exit code %d, stderr %q", code, stderr.Bytes())
			}
			return stdout.Bytes(), code, stderr.Bytes()
		}
		asJSON, code, stderr := dump("--format", "jsonl", "--stacks", "--payload")
		events := 0
		for line := range bytes.Lines(asJSON) {
			events++
			if !json.Valid(line) || !utf8.Valid(line) {
				t.Fatalf("line %d is not valid: %q", events, line)
			}
			if err := showtest.CheckEvent(line); err != nil {
				t.Fatalf("line %d: %v: %q", events, err, line)
			}
		}
		asText, textCode, textStderr := dump()
		if n := bytes.Count(asText, []byte("\n")); n > 0 && n != events+1 {
			t.Fatalf("%d lines of text for %d events", n, events)
		}
		textStderr = advice.ReplaceAll(textStderr, nil)
		if textCode != code || !bytes.Equal(stderr, textStderr) {
			t.Fatalf("exit codes %d and %d, stderr %q and %q", code, textCode, stderr, textStderr)
		}
		asCSV, _, _ := dump("--format", "csv", "--stacks")
		if records, err := csv.NewReader(bytes.NewReader(asCSV)).ReadAll(); err != nil || len(records) > 0 && len(records) != events+1 {
			t.Fatalf("%d records of CSV for %d events: %v", len(records), events, err)
		}
	})
}
