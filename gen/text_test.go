package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etwgen/etwgen/manifest"
)

var twoFields = []*field{
	{m: &manifest.Field{Name: "count"}, goName: "Count"},
	{m: &manifest.Field{Name: "size"}, goName: "Bytes"},
}

func TestPlainMessage(t *testing.T) {
	tests := []struct{ msg, want string }{
		{"Found %1 of %2", "Found {Count} of {Bytes}"},
		{"%1!s! and %2!08x!", "{Count} and {Bytes}"},
		{"%1! Really!", "{Count}! Really!"},
		{"a%nb%tc", "a\nb c"},
		{"100%% sure%", "100% sure%"},
		{"%M and %3.", "%M and ."},
		{"  ", ""},
	}
	for _, tt := range tests {
		if got := plainMessage(tt.msg, twoFields); got != tt.want {
			t.Errorf("plainMessage(%q) = %q, want %q", tt.msg, got, tt.want)
		}
	}
}

func TestSaysMore(t *testing.T) {
	tests := []struct {
		msg  string
		want bool
	}{
		{"Count={Count};\nsize={Bytes}", false},
		{"The disk moved its head.", true},
		{"GCStart_V1", false},
		{"GCStart V1", false},
		{"NONE", false},
		{"", false},
	}
	for _, tt := range tests {
		if got := saysMore(tt.msg, twoFields, "GCStart_V1"); got != tt.want {
			t.Errorf("saysMore(%q) = %v", tt.msg, got)
		}
	}
}

func TestDocLines(t *testing.T) {
	got := docLines(20, "One two three four five.", "", "a\nb\r\n\t c\x00", "a-word-that-is-longer-than-a-line *//")
	want := []string{
		"// One two three",
		"// four five.",
		"//",
		"// a",
		"// b",
		"// c",
		"//",
		"// a-word-that-is-longer-than-a-line",
		"// *//",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
