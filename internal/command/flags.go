package command

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// ExplainFlags has root report faults in the values of flags in words about the flag, and
// not about the function that reads it.
func ExplainFlags(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var number *strconv.NumError
		if !errors.As(err, &number) {
			return err
		}
		return errors.New(strings.Replace(err.Error(), number.Error(), explain(number), 1))
	})
}

func explain(err *strconv.NumError) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "the number is too large"
	case err.Func == "ParseBool":
		return "it is neither true nor false"
	case err.Func == "ParseFloat":
		return "it is not a number"
	}
	return "it is not a whole number"
}
