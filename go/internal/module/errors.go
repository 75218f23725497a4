package module

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Codes of an Error. They are stable; the wording is not.
const (
	CodeName       = "invalid_name" // no module can have this name here
	CodeNotFound   = "not_found"
	CodeAmbiguous  = "ambiguous"  // more than one module answers to the name
	CodeConfig     = "config"     // a .luaurc is wrong
	CodePermission = "permission" // the file is there and may not be read
	CodeLimit      = "limit"      // the file is too large
	CodeSource     = "source"     // the file cannot be the source of a module
)

// Error says why a module or a script was not found or not read. An *Error with
// only a Code matches, in errors.Is, every error of that code.
type Error struct {
	Code    string
	Name    string   // as the script wrote it; for a main script its path
	Message string   // what is wrong, without paths of this machine
	Details []string // what was looked for and where; names paths
	Hint    string   // what to do next; may be empty
	Err     error    // cause, or nil

	script bool
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.script {
		fmt.Fprintf(&b, "cannot run %s: %s", quoteName(e.Name), e.Message)
	} else {
		fmt.Fprintf(&b, "error requiring module %s: %s", quoteName(e.Name), e.Message)
	}
	for _, detail := range e.Details {
		b.WriteString("\n  ")
		b.WriteString(detail)
	}
	if e.Hint != "" {
		b.WriteString("\n  ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Name == "" && t.Message == ""
}

func (e *Error) named(name string) *Error {
	e.Name = name
	return e
}

// quoteName keeps an error about a huge name short.
func quoteName(name string) string {
	const most = 120
	if len(name) > most {
		return fmt.Sprintf("%q...", name[:most])
	}
	return fmt.Sprintf("%q", name)
}

// unreadable is the error for a file that is there and cannot be read.
func unreadable(err error, where string) *Error {
	e := &Error{Code: CodeSource, Message: "the file cannot be read: " + reason(err), Details: []string{"in " + where}, Err: err}
	if errors.Is(err, ErrOutside) || errors.Is(err, fs.ErrPermission) {
		e.Code = CodePermission
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = CodeNotFound
	}
	return e
}

// reason is the cause of a file error without its path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return string(e.Code) }
