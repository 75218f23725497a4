package tooldef

import (
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// CodeInvalid is the code of a definition that is no tool.
const CodeInvalid = "invalid_tool"

// Error says what is wrong with a definition, where, and what helps.
type Error struct {
	File         string // as Tool.File has it
	Line, Column int    // from 1; 0 when unknown
	Problem      string
	Hint         string // what to do next; "" is none
	Err          error  // what was behind it; nil is nothing
}

// Error gives the place, the problem and the hint in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
			if e.Column > 0 {
				fmt.Fprintf(&b, ":%d", e.Column)
			}
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Problem)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap gives what was behind it.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode is that of what was behind it, else CodeInvalid.
func (e *Error) ErrorCode() string {
	if code := luau.CodeOf(e.Err); e.Err != nil && code != "" {
		return string(code)
	}
	return CodeInvalid
}

// Broken is a definition that is no tool, or a file that was passed over, and why.
type Broken struct {
	File string // as Tool.File has it
	Line int    // 0 when unknown
	Name string // of the tool; "" when unknown
	Err  error  // says the place as well
}

// broken makes one of an error, which mostly is an *Error. One in another file, a script, has no line in this.
func broken(file, name string, err error) Broken {
	b := Broken{File: file, Name: name, Err: err}
	if e, ok := err.(*Error); ok && e.File == file {
		b.Line = e.Line
	}
	return b
}

// clip keeps what a message quotes short.
func clip(text string) string { return spelling.Clip(text, 80) }
