package command

import (
	"testing"

	"github.com/spf13/cobra"
)

func TestArgs(t *testing.T) {
	for _, test := range []struct {
		least, most int
		args        []string
		want        string
	}{
		{1, -1, nil, "an argument is missing: work [flags] A B"},
		{2, 2, nil, "2 arguments are missing: work [flags] A B"},
		{2, 2, []string{"a"}, "an argument is missing: work [flags] A B"},
		{2, 2, []string{"a", "b", "c", "d"}, `"c" is one argument too many: work [flags] A B`},
		{0, 0, []string{"a"}, `"a" is one argument too many: work [flags] A B`},
		{1, -1, []string{"a", "b", "c"}, ""},
		{0, 1, nil, ""},
	} {
		got := ""
		if err := Args(test.least, test.most)(&cobra.Command{Use: "work [flags] A B"}, test.args); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%d to %d, %q: %q, want %q", test.least, test.most, test.args, got, test.want)
		}
	}
}
