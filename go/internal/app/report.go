package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Terminal says whether somebody watches what is written.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Coloured says whether w shows colours and the user wants them (https://no-color.org).
func Coloured(w io.Writer) bool {
	return Terminal(w) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// ReportJSON is an error as one line of JSON: its code, message, place, traceback and value.
func ReportJSON(err error) string {
	type frame struct {
		Chunk    string `json:"chunk"`
		Line     int    `json:"line,omitempty"`
		Function string `json:"function,omitempty"`
	}
	report := struct {
		Code      string  `json:"code"`
		Message   string  `json:"message"`
		Chunk     string  `json:"chunk,omitempty"`
		Line      int     `json:"line,omitempty"`
		Column    int     `json:"column,omitempty"`
		Value     any     `json:"value,omitempty"`
		Traceback []frame `json:"traceback,omitempty"`
	}{Code: "error", Message: err.Error()}
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		report.Code = coded.ErrorCode()
	}
	var e *luau.Error
	if errors.As(err, &e) {
		report.Message, report.Line, report.Column, report.Value = e.Message, e.Line, e.Column, e.Value
		report.Chunk = luau.ChunkName(e.Chunk)
		for _, f := range e.Frames {
			report.Traceback = append(report.Traceback, frame{luau.ChunkName(f.Chunk), f.Line, f.Function})
		}
	}
	text, bad := json.Marshal(map[string]any{"error": report})
	if bad != nil {
		report.Value = luau.Format(report.Value) // of a kind that JSON has not
		text, _ = json.Marshal(map[string]any{"error": report})
	}
	return string(text) + "\n"
}

// Report shows an error to a person: place and message, the source line with a caret, the
// traceback. It ends with a newline.
func Report(err error, colour bool) string {
	var e *luau.Error
	if !errors.As(err, &e) {
		return paint(colour, red, "error") + ": " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", paint(colour, red, "error"), e.Error())
	if line, ok := sourceLine(err, e.Chunk, e.Line); ok {
		writeSource(&b, e, line, colour)
	}
	if trace := e.Traceback(); trace != "" && e.Code != luau.CodeCompile {
		b.WriteString(paint(colour, dim, "traceback:") + "\n")
		for line := range strings.Lines(trace) {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

const (
	red  = "1;31"
	dim  = "2"
	blue = "34"
)

func paint(colour bool, code, text string) string {
	if !colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// maxSourceLine is how much of a long line is shown.
const maxSourceLine = 160

// sourceLine reads one line of a file's chunk, or of the text that err carries.
func sourceLine(err error, chunk string, line int) (string, bool) {
	if !strings.HasPrefix(chunk, "@") || line <= 0 {
		return "", false
	}
	var data []byte
	var inText *textError
	if errors.As(err, &inText) && inText.chunk == chunk {
		data = []byte(inText.text)
	} else if data, err = os.ReadFile(chunk[1:]); err != nil {
		return "", false
	}
	n := 1
	for text := range strings.Lines(string(data)) {
		if n == line {
			return strings.TrimRight(text, "\r\n"), true
		}
		n++
	}
	return "", false
}

func writeSource(b *strings.Builder, e *luau.Error, text string, colour bool) {
	column := e.Column
	if column == 0 {
		column = len(text) - len(strings.TrimLeft(text, " \t")) + 1
	}
	if len(text) > maxSourceLine {
		text = text[:maxSourceLine] + "..."
	}
	number := fmt.Sprintf("%5d", e.Line)
	fmt.Fprintf(b, "%s %s %s\n", paint(colour, dim, number), paint(colour, blue, "|"), text)
	if column > len(text)+1 {
		return
	}
	// Tabs stay tabs, so that the caret stands under its character.
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, text[:column-1])
	fmt.Fprintf(b, "      %s %s%s\n", paint(colour, blue, "|"), pad, paint(colour, red, "^"))
}
