package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etwgen/etwgen/internal/testio"
)

// hostile is text that would move the cursor, forge a line, or turn text around.
const hostile = "a\x1b[31m\u009b\u202e\u200b\x7f\U000e0041b\r\xff"

func TestClean(t *testing.T) {
	got := Clean(hostile + "\nc\td")
	if strings.IndexFunc(got, IsUnclean) >= 0 || !strings.HasPrefix(got, `a\x1b[31m`) {
		t.Errorf("%q", got)
	}
	if Clean("größer") != "größer" {
		t.Error("letters are changed")
	}
}

func TestCleanWriter(t *testing.T) {
	var b strings.Builder
	n, err := CleanWriter{&b}.Write([]byte("one\ttwo\x1b\n" + hostile + "\n"))
	if err != nil || n != len("one\ttwo\x1b\n")+len(hostile)+1 {
		t.Errorf("%d, %v", n, err)
	}
	if want := "one\ttwo\\x1b\n" + Clean(hostile) + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestAppendSafeJSON(t *testing.T) {
	text := testio.Marshal(t, map[string]string{"k": strings.ToValidUTF8(hostile, "") + "é"})
	safe := AppendSafeJSON(nil, append(text, '\n'))
	line := strings.TrimSuffix(string(safe), "\n")
	var got map[string]string
	if err := json.Unmarshal(safe, &got); err != nil || got["k"] != strings.ToValidUTF8(hostile, "")+"é" || strings.IndexFunc(line, IsUnclean) >= 0 {
		t.Errorf("%s: %q, %v", safe, got, err)
	}
}
