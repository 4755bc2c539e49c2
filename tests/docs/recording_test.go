package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/generated/clr"
	"github.com/etwgen/etwgen/generated/clr/rundown"
	"github.com/etwgen/etwgen/runtime/etw"
)

// TestRecording checks that the masks and levels of docs/recording.md are those
// that package clr enables for the same purposes.
func TestRecording(t *testing.T) {
	text := page(t, filepath.Join(root, "docs/recording.md"))
	known := make(map[string]bool)
	for _, p := range clr.Presets() {
		e := p.Enable()
		known[fmt.Sprintf("%#x:%d", e.Keywords, e.Level)] = true
	}
	for _, own := range []clr.Keyword{ // of questions that have a command, and no preset
		clr.KeywordWaitHandle,
		clr.KeywordGC | clr.KeywordManagedHeapCollect | clr.KeywordGCHeapDump | clr.KeywordGCHeapAndTypeNames | clr.KeywordType,
	} {
		known[fmt.Sprintf("%#x:%d", uint64(own), etw.LevelVerbose)] = true
	}
	flow := clr.KeywordGC | clr.KeywordContention | clr.KeywordThreading
	known[fmt.Sprintf("%#x:%d", uint64(flow), etw.LevelInformational)] = true
	found := 0
	for _, m := range regexp.MustCompile(clr.Provider.Desc.Name+`:(?:0x)?([0-9a-f]+):(\d)`).FindAllStringSubmatch(text, -1) {
		found++
		if pair := "0x" + m[1] + ":" + m[2]; !known[pair] {
			t.Errorf("no preset enables %s", pair)
		}
	}
	if found < 10 {
		t.Errorf("only %d providers were found", found)
	}

	// xperf wants GUIDs, a mask and a level, and so does logman.
	for _, e := range []etw.Enable{clr.EnableDefault(), rundown.EnableEnd()} {
		if want := fmt.Sprintf(" -on %v:%#x:0x%d -f clr", e.Provider.GUID, e.Keywords, e.Level); !strings.Contains(text, want) {
			t.Errorf("no session of xperf has%s", want)
		}
	}
	for _, want := range []struct {
		guid     string
		keywords uint64
	}{
		{clr.Provider.Desc.GUID.String(), clr.EnableGC().Keywords},
		{rundown.Provider.Desc.GUID.String(), rundown.EnableEnd().Keywords},
	} {
		m := regexp.MustCompile(`-p "\{` + want.guid + `\}" (0x[0-9a-f]+) \d`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no session records %s", want.guid)
		}
		if mask, err := strconv.ParseUint(m[1], 0, 64); err != nil || mask != want.keywords {
			t.Errorf("a session records %s of %s, not %#x", m[1], want.guid, want.keywords)
		}
	}
}
