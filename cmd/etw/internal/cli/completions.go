package cli

import (
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// Completions says how the values of flags are completed. Cobra keeps every flag that it is
// told of, and by it the command, as long as the process lives: so it is told only if it is
// asked, and programs and tests that run thousands of commands keep none of them.
func Completions(cmd *cobra.Command, funcs map[string]cobra.CompletionFunc) {
	if !completing() {
		return
	}
	for flag, do := range funcs {
		_ = cmd.RegisterFlagCompletionFunc(flag, do) // fails for flags that there are not
	}
}

// completing reports whether this process is asked by a shell how to go on.
var completing = sync.OnceValue(func() bool {
	return len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd)
})
