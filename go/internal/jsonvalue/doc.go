// Package jsonvalue reads and writes JSON as trees of plain Go values, strictly and fast. It is not
// for Go structs.
//
// A tree is nil, bool, string, float64, json.Number, []any and map[string]any. A json.Number stands
// only where a float64 would lose digits: a whole number beyond ±(2^53-1), written without point and
// exponent. Other numbers are the nearest float64, as scripts read them.
package jsonvalue

import (
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
)

// MaxDepth is how deep arrays and objects may be nested, in and out.
const MaxDepth = 200

// maxSafe is the largest whole number up to which a float64 holds each one.
const maxSafe = 1<<53 - 1

// SyntaxError says what is wrong with a text and where.
type SyntaxError struct {
	Problem string
	Pointer string // JSON pointer to the value in which it is; empty at the top
	Offset  int    // bytes before the place
	Line    int    // from 1
	Column  int    // in bytes, from 1
	cause   error  // of Options.Room
}

func (e *SyntaxError) Error() string {
	at := ""
	if e.Pointer != "" {
		at = " (in " + shorten(e.Pointer) + ")"
	}
	return fmt.Sprintf("%s at line %d, column %d, byte %d%s", e.Problem, e.Line, e.Column, e.Offset, at)
}

// ValueError says why a value has no JSON form, and which part of it.
type ValueError struct {
	Problem string
	Pointer string // JSON pointer to the part; empty for the whole
}

func (e *ValueError) Error() string {
	if e.Pointer == "" {
		return "cannot encode as JSON: " + e.Problem
	}
	return "cannot encode as JSON: " + e.Problem + " at " + shorten(e.Pointer)
}

// shorten keeps a message readable when keys are long.
func shorten(text string) string { return spelling.Clip(text, 200) }

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// AppendPointer adds one name or index to a JSON pointer.
func AppendPointer(pointer, token string) string {
	return pointer + "/" + EscapePointer(token)
}

// EscapePointer writes a name as a part of a JSON pointer.
func EscapePointer(token string) string {
	if !strings.ContainsAny(token, "~/") {
		return token
	}
	return pointerEscapes.Replace(token)
}
