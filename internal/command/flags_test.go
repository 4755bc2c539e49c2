package command_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/etwgen/etwgen/internal/command"
)

func TestExplainFlags(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-n", "x"}, `invalid argument "x" for "-n, --top" flag: it is not a whole number`},
		{[]string{"--top", "99999999999999999999"}, `invalid argument "99999999999999999999" for "-n, --top" flag: the number is too large`},
		{[]string{"--share=x"}, `invalid argument "x" for "--share" flag: it is not a number`},
		{[]string{"--quiet=x"}, `invalid argument "x" for "--quiet" flag: it is neither true nor false`},
		{[]string{"--other"}, "unknown flag: --other"},
	} {
		root := &cobra.Command{Use: "root", SilenceErrors: true, SilenceUsage: true, Run: func(*cobra.Command, []string) {}}
		root.Flags().IntP("top", "n", 0, "")
		root.Flags().Float64("share", 0, "")
		root.Flags().Bool("quiet", false, "")
		command.ExplainFlags(root)
		root.SetArgs(test.args)
		if err := root.Execute(); err == nil || err.Error() != test.want {
			t.Errorf("%v: %v, want %s", test.args, err, test.want)
		}
	}
}
