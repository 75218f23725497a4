package spelling

import "strings"

// Clip keeps what a message quotes short: at most so many bytes of a text, whole characters, with dots where
// something is missing.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
