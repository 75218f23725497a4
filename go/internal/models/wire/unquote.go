package wire

import (
	"encoding/json"
	"strconv"

	"github.com/hukilau/hukilau/go/internal/models"
)

// escapeLen is the length of an escape as \ud83c.
const escapeLen = 6

// Unquote is a JSON string. Servers that count in UTF-16 may cut between the two escapes of one
// character; a half at either end comes as models.Half, which the Collector joins.
func Unquote(quoted []byte) (string, error) {
	var plain string
	if err := json.Unmarshal(quoted, &plain); err != nil {
		return "", err
	}
	const lost = "\ufffd" // what the decoder makes of a half
	end := len(quoted) - 1 - escapeLen
	if half := halfAt(quoted, end); models.IsFirstHalf(half) && !escaped(quoted, end) {
		plain = plain[:len(plain)-len(lost)] + models.Half(half)
	}
	if half := halfAt(quoted, 1); models.IsSecondHalf(half) {
		plain = models.Half(half) + plain[len(lost):]
	}
	return plain, nil
}

// halfAt is the half of a character whose escape is at i; 0 when there is none.
func halfAt(quoted []byte, i int) rune {
	if i < 1 || i+escapeLen >= len(quoted) || quoted[i] != '\\' || quoted[i+1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(quoted[i+2:i+escapeLen]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// escaped says whether the backslash at i is itself escaped.
func escaped(quoted []byte, i int) bool {
	n := 0
	for i--; i > 0 && quoted[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}
