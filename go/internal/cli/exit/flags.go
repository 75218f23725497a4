package exit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError is what a wrong flag comes to: a wrong command line, in words that do not come out of a parser.
func FlagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return Usagef("%v", err)
	}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	want := "write a whole number"
	switch kind := flag.Value.Type(); {
	case kind == "bool":
		want = "write true or false"
	case strings.HasPrefix(kind, "float"):
		want = "write a number"
	case strings.HasPrefix(kind, "uint"):
		want = "write a whole number, 0 or more"
	}
	if errors.Is(number.Err, strconv.ErrRange) {
		want = "the number is too large"
	}
	return &UsageError{fmt.Sprintf("--%s %s: %s", flag.Name, value, want)}
}
