package cli

import (
	"testing"
)

func TestSuggestions(t *testing.T) {
	names := []string{"GCStart", "GCStop", "MethodLoadVerbose"}
	for wrong, want := range map[string]string{"GCStrt": "GCStart", "gcstop": "GCStop", "LoadVerb": "MethodLoadVerbose", "xyzzy": "", "q": ""} {
		if got := nearest(wrong, names); got != want {
			t.Errorf("%s: %s, want %s", wrong, got, want)
		}
	}
}
