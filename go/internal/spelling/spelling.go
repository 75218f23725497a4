// Package spelling is about names in messages: those that a mistyped one may mean, and long ones cut short.
package spelling

import "strings"

// Nearest is the name that looks most like another, without regard to case; empty where none is near.
func Nearest(name string, among []string) string {
	if len(name) > maxCompared {
		return "" // and not made lower case for each of thousands
	}
	best, least := "", max(1, len(name)/3)
	name = strings.ToLower(name)
	for _, other := range among {
		if len(name) == 1 && len(other) == 1 && !strings.EqualFold(name, other) {
			continue // any other letter would be as near
		}
		if d := Distance(name, strings.ToLower(other), least); d < least || d == least && best == "" {
			best, least = other, d
		}
	}
	return best
}

// maxCompared is the longest name that is compared with others.
const maxCompared = 200

// Distance is how many bytes must be added, dropped, changed or exchanged with their neighbour to make b
// of a; more than most where it is more.
func Distance(a, b string, most int) int {
	if len(a) > maxCompared || len(b) > maxCompared || len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	var older, old []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, row = old, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
