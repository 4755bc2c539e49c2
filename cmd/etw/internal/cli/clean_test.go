package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/command"
	"github.com/etwgen/etwgen/internal/testio"
)

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"":                 "",
		`C:\a "b"`:         `C:\a "b"`,
		"é 世界 שלום":        "é 世界 שלום",
		"a\tb\r\n":         `a\tb\r\n`,
		"\x1b[31m":         `\x1b[31m`,
		"\u009b":           `\u009b`,
		"\xff":             `\ufffd`,
		"\u202e backwards": `\u202e backwards`,
		"a\u200bb":         `a\u200bb`,
		"\u3164":           `\u3164`,
		"\U000e0101":       `\U000e0101`,
	} {
		if got := Clean(s); got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
		if got := string(CleanFrom([]byte("\x1b"+s), 1)); got != "\x1b"+want {
			t.Errorf("%q becomes %q from 1 on, want %q", s, got, want)
		}
	}
	// JSON keeps its values.
	for _, s := range []string{"plain", "\u202e", "é\u009b\u3164", "\U000e0101", `"\`} {
		in := testio.Marshal(t, s)
		safe := AppendSafeJSON(nil, in)
		var got string
		if err := json.Unmarshal(safe, &got); err != nil || got != s || strings.IndexFunc(string(safe), command.IsUnclean) >= 0 {
			t.Errorf("%q becomes %s, which is %q (%v)", s, safe, got, err)
		}
	}
}
