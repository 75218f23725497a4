package doctest

import (
	"fmt"
	"regexp"
	"strings"
)

// difference says where output is not what the page shows; "" when it is. In the page a line "..."
// stands for any lines, none included, and "..." within a line for any text.
func difference(want, got string) string {
	w, g := lines(want), lines(got)
	if matches(w, g) {
		return ""
	}
	return fmt.Sprintf("the page shows\n%s\nbut it prints\n%s", indent(w), indent(g))
}

func lines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func indent(list []string) string {
	if len(list) == 0 {
		return "\t(nothing)"
	}
	return "\t" + strings.Join(list, "\n\t")
}

// matches walks both lists; reach says after which lines of got the lines of want so far may end.
func matches(want, got []string) bool {
	reach := make([]bool, len(got)+1)
	reach[0] = true
	for _, line := range want {
		next := make([]bool, len(got)+1)
		if line == "..." {
			open := false
			for i, ok := range reach {
				open = open || ok
				next[i] = open
			}
		} else {
			same := lineMatcher(line)
			for i := range got {
				next[i+1] = reach[i] && same(got[i])
			}
		}
		reach = next
	}
	return reach[len(got)]
}

func lineMatcher(want string) func(string) bool {
	want = strings.TrimRight(want, " \t")
	if !strings.Contains(want, "...") {
		return func(got string) bool { return strings.TrimRight(got, " \t\r") == want }
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\.\.\.`, `.*`)
	return regexp.MustCompile(`^` + pattern + `\s*$`).MatchString
}
