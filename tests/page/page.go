// Package page writes the parts of pages of documentation that tests compute.
package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The heads of tables.
const (
	Topics  = "| topic | traces | figures compared | equal | with a reason |\n|---|--:|--:|--:|--:|\n"
	Reasons = "| figures | why they differ |\n|--:|---|\n"
)

// Check reports a part of a page that is not as a test computed it, see [Replace].
func Check(tb testing.TB, root, name, part, text string) {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		tb.Fatal(err)
	}
	want := fmt.Sprintf("<!-- begin %s -->\n\n%s\n<!-- end %s -->\n", part, text, part)
	if !strings.Contains(string(b), want) {
		tb.Errorf("docs/%s: what the test computes of %s is another; -update writes it", name, part)
	}
}

// Replace sets the text between the marks of a part of a page in docs:
//
//	<!-- begin NAME -->
//	...
//	<!-- end NAME -->
//
// root leads to the folder of go.mod.
func Replace(tb testing.TB, root, name, part, text string) {
	tb.Helper()
	path := filepath.Join(root, "docs", name)
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	begin, end := fmt.Sprintf("<!-- begin %s -->\n", part), fmt.Sprintf("<!-- end %s -->\n", part)
	before, rest, ok := strings.Cut(string(b), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		tb.Fatalf("%s has no part %s", path, part)
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o666); err != nil {
		tb.Fatal(err)
	}
}
