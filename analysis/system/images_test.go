package system_test

import (
	"testing"

	"github.com/etwgen/etwgen/analysis/system"
	"github.com/etwgen/etwgen/analysis/table"
)

// TestReplacedFile: a file that another build replaced is two, and images of which no build is
// known are of the first.
func TestReplacedFile(t *testing.T) {
	r := &system.ImagesResult{Images: []system.ImageFacts{
		{PID: 1, Path: `C:\a.dll`}, {PID: 2, Path: `C:\A.dll`, TimeDateStamp: 7, FileVersion: "1.0"},
		{PID: 3, Path: `C:\a.dll`, TimeDateStamp: 9, FileVersion: "1.1"}, {PID: 4, Path: `C:\a.dll`, TimeDateStamp: 9, FileVersion: "1.1"},
	}}
	v, ok := table.Find(r.Tables(), "file")
	if !ok || v.Rows != 2 {
		t.Fatalf("%d files", v.Rows)
	}
}
