package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/analysis/symbols/native"
	"github.com/etwgen/etwgen/cmd/etw/internal/frames"
	"github.com/etwgen/etwgen/internal/testio"
	"github.com/etwgen/etwgen/tests/corpus"
)

// TestOrigins counts where the names of a recorder's frames are from, without and with the
// files of .NET that ran.
func TestOrigins(t *testing.T) {
	path := corpus.File(t, "universal", "universal-dotnet.nettrace")
	images := filepath.Dir(corpus.File(t, "assemblies", "System.Private.CoreLib.dll"))
	count := func(more ...string) map[string]int {
		var out, errs bytes.Buffer
		args := append([]string{"symbols", "--by", "source", "--format", "json", path}, more...)
		if code := run(args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%v: %d: %s", args, code, errs.String())
		}
		var doc struct {
			Rows []struct {
				Source, File, Wanted string
				Frames               int
			}
		}
		testio.JSON(t, out.Bytes(), &doc)
		counts := make(map[string]int)
		for _, r := range doc.Rows {
			counts[r.Source] += r.Frames
			if (r.Wanted != "") != (r.Source == frames.FromNothing) {
				t.Errorf("%+v", r)
			}
			if r.Source == frames.FromNothing && strings.HasSuffix(r.File, "CoreLib.dll") && !strings.Contains(r.Wanted, "0x9ae") {
				t.Errorf("what would name it: %+v", r)
			}
		}
		return counts
	}
	without, with := count("--no-symbols"), count("--symbols", images)
	fromNet := native.FromDotNet.String()
	t.Log(without, with)
	if without[fromNet] != 0 || with[fromNet] == 0 {
		t.Error("names of files of .NET come from them")
	}
	if with[fromNet]+with[frames.FromNothing] != without[frames.FromNothing] || with[frames.FromRecorder] != without[frames.FromRecorder] {
		t.Errorf("without the files %v, with them %v", without, with)
	}
}
