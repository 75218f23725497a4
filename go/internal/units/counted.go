package units

import "fmt"

// Counted is a number of things in words: "1 tool", "3 tools".
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
