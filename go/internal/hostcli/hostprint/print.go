// Package hostprint writes values for people and for programs, safe for a terminal.
package hostprint

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// JSONLine writes a value as JSON in one line.
func JSONLine(out io.Writer, v any) error { return writeJSON(out, v, "") }

// JSONLines writes a value as JSON with a line for each element.
func JSONLines(out io.Writer, v any) error { return writeJSON(out, v, "  ") }

func writeJSON(out io.Writer, v any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := out.Write(visible.JSON(text.Bytes()))
	return err
}

// Pretty is JSON as people read it; what is no JSON is given as it is.
func Pretty(text string) string {
	if value, err := jsonvalue.Decode([]byte(text), jsonvalue.Options{}); err == nil {
		if indented, err := jsonvalue.Indent(value); err == nil {
			text = string(indented)
		}
	}
	return visible.Text(text)
}

// Indented puts a text under a heading, with a line's end.
func Indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// Cut is at most limit characters of a text, which ends in dots where something is missing.
func Cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:max(limit-3, 0)]) + "..."
}
