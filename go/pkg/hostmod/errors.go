package hostmod

import (
	"fmt"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// NoMemory is the error of a function for which the memory limit has no room.
func NoMemory(function string) error {
	return &luau.Error{Code: luau.CodeMemory, Message: function + ": the memory limit was reached"}
}

// PermissionError is what a script sees when it may not do what it asked for.
type PermissionError struct {
	Message string
	Key     string // the setting that does not grant it, or denies it: "env", "deny_env"
}

func (e *PermissionError) Error() string { return e.Message }

// ErrorCode is the code as scripts see it.
func (*PermissionError) ErrorCode() string { return "permission" }

// ErrorFields is what scripts see beside code and message.
func (e *PermissionError) ErrorFields() map[string]any { return map[string]any{"key": e.Key} }

// TextError is what a script sees when a text is not taken.
type TextError struct {
	Code         string
	Function     string // as "toml.decode"
	Problem      string
	Line, Column int // from 1; 0 when unknown
}

// Error says where and what.
func (e *TextError) Error() string {
	if e.Line == 0 {
		return e.Function + ": " + e.Problem
	}
	return fmt.Sprintf("%s: line %d, column %d: %s", e.Function, e.Line, e.Column, e.Problem)
}

// ErrorCode is the code as scripts see it.
func (e *TextError) ErrorCode() string { return e.Code }

// ErrorFields is what scripts see beside code and message.
func (e *TextError) ErrorFields() map[string]any {
	if e.Line == 0 {
		return nil
	}
	return map[string]any{"line": e.Line, "column": e.Column}
}
