package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Code says what kind of error it was; it never changes, the text may.
type Code string

// Codes of errors.
const (
	CodeNotFound Code = "not_found" // no such run, call, approval
	CodeState    Code = "state"     // it is not in a state that allows this
	CodeOwn      Code = "own"       // who made a call cannot approve it
	CodeLimit    Code = "limit"     // a size or a number is over its limit
	CodeInvalid  Code = "invalid"   // an argument that can never be right
	CodeFull     Code = "full"      // no room to keep more; there will be some later
	CodeBusy     Code = "busy"      // another process held the file for too long, or the log's queue is full
	CodeClosed   Code = "closed"    // the store was closed
	CodeForeign  Code = "foreign"   // the file is none of ours
	CodeNewer    Code = "newer"     // the file was made by a newer version
	CodeDamaged  Code = "damaged"   // the file's content is broken
	CodeIO       Code = "io"        // the file cannot be opened, read or written
)

// Error is what this package returns, except where a context ended.
type Error struct {
	Code    Code
	Message string
	State   CallState // with CodeState: what the call is already
	Cause   error
}

func (e *Error) Error() string { return e.Message }

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return string(e.Code) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// CodeOf returns the code of an error of this package, and "" for any other.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

func failure(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// describe gives an error of SQLite a code and says in which file it was.
func (d *database) describe(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ours := errors.AsType[*Error](err); ours {
		return err
	}
	select {
	case <-d.closed: // under a query that was on its way
		return &Error{Code: CodeClosed, Message: fmt.Sprintf("the store %s is closed", d.path), Cause: err}
	default:
		return d.classify(err)
	}
}

// otherFolder is what to do where a store cannot be written.
const otherFolder = "let its folder be written, or name another one with [state] dir in hukilau.toml, which --config names"

func (d *database) classify(err error) error {
	code, text := CodeIO, "the store %s: %v"
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			code, text = CodeBusy, "the store %s is held by another process for too long: %v"
		case sqlite3.SQLITE_NOTADB:
			code, text = CodeForeign, "%s is not a store of hukilau, and is left as it is; name another file: %v"
		case sqlite3.SQLITE_CORRUPT:
			code, text = CodeDamaged, "the store %s is damaged; move it away to start a new one: %v"
		case sqlite3.SQLITE_FULL:
			text = "the disk of the store %s is full; make room there, and it goes on by itself: %v"
		case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
			text = "the store %s cannot be opened for writing; " + otherFolder + ": %v"
		}
	}
	return &Error{Code: code, Message: fmt.Sprintf(text, d.path, err), Cause: err}
}
