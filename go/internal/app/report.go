package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

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
		Hint      string  `json:"hint,omitempty"`
	}{Hint: hintOf(err), Code: "error", Message: err.Error()}
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
	var text strings.Builder
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	if lines.Encode(map[string]any{"error": report}) != nil {
		report.Value = luau.Format(report.Value) // of a kind that JSON has not
		_ = lines.Encode(map[string]any{"error": report})
	}
	return string(visible.JSON([]byte(text.String())))
}

// Report shows an error to a person: place and message, the source line with a caret, the
// traceback, what to do. It ends with a newline.
func Report(err error, colour bool) string {
	var b strings.Builder
	var e *luau.Error
	if !errors.As(err, &e) {
		fmt.Fprintf(&b, "%s: %s\n", Paint(colour, Red, "error"), visible.Message(err.Error()))
	} else {
		writeScriptError(&b, err, e, colour)
	}
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(&b, "hint: %s\n", visible.Message(hint))
	}
	return b.String()
}

func writeScriptError(b *strings.Builder, err error, e *luau.Error, colour bool) {
	shown := legible(e)
	fmt.Fprintf(b, "%s: %s\n", Paint(colour, Red, "error"), shown.Error())
	if line, ok := sourceLine(err, e.Chunk, e.Line); ok {
		writeSource(b, e, line, colour)
	}
	// Of a compile error only the way to its module is one.
	if trace := shown.Traceback(); trace != "" && (e.Code != luau.CodeCompile || len(e.Frames) > 1) {
		b.WriteString(Paint(colour, Dim, "traceback:") + "\n")
		for line := range strings.Lines(trace) {
			b.WriteString("  " + line)
		}
	}
}

// legible is what a person reads of e: place, message and traceback without what a terminal would obey.
func legible(e *luau.Error) *luau.Error {
	chunk := func(name string) string {
		if name == "" {
			return ""
		}
		return "=" + visible.Line(luau.ChunkName(name)) // the mark keeps one that the name begins with
	}
	shown := &luau.Error{Message: visible.Message(e.Message), Chunk: chunk(e.Chunk), Line: e.Line}
	for _, f := range e.Frames {
		shown.Frames = append(shown.Frames, luau.Frame{Chunk: chunk(f.Chunk), Line: f.Line, Function: visible.Line(f.Function)})
	}
	return shown
}

// Warn tells of what went wrong beside the work.
func Warn(w io.Writer, text string) {
	_, _ = fmt.Fprintf(w, "warning: %s\n", visible.Message(text))
}

// hintError is an error with what to do about it.
type hintError struct {
	error
	hint string
}

func (e *hintError) Unwrap() error { return e.error }

// WithHint says what to do about err, where hint is not empty.
func WithHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return &hintError{err, hint}
}

func hintOf(err error) string {
	var hinted *hintError
	if errors.As(err, &hinted) {
		return hinted.hint
	}
	return scriptHint(err)
}

// Colours of a terminal, for Paint.
const (
	Red    = "1;31"
	Green  = "32"
	Yellow = "33"
	Blue   = "34"
	Dim    = "2"
	Bold   = "1"
)

// Paint gives text in a colour, where colour says so.
func Paint(colour bool, code, text string) string {
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
	} else if data, err = opener(os.OpenFile).read(chunk[1:], luau.MaxSource); err != nil { // no pipe: what came is gone
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
	text, cut := beginning(text)
	number := fmt.Sprintf("%5d", e.Line)
	fmt.Fprintf(b, "%s %s %s%s\n", Paint(colour, Dim, number), Paint(colour, Blue, "|"), visible.Text(text), cut)
	if column > len(text)+1 {
		return
	}
	// Tabs stay tabs, so that the caret stands under its character.
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, visible.Text(text[:column-1]))
	fmt.Fprintf(b, "      %s %s%s\n", Paint(colour, Blue, "|"), pad, Paint(colour, Red, "^"))
}

// beginning is what is shown of a line, and what stands for the rest.
func beginning(text string) (shown, cut string) {
	if len(text) <= maxSourceLine {
		return text, ""
	}
	end := maxSourceLine
	for end > maxSourceLine-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], "..."
}
