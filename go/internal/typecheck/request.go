package typecheck

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Mode is how strictly types are inferred.
type Mode string

// The modes. A script's own --!strict, --!nonstrict or --!nocheck wins.
const (
	Strict    Mode = "strict" // also what "" is
	Nonstrict Mode = "nonstrict"
)

// Definitions declare what scripts find beside Luau's own library, in the form of a .d.luau file.
type Definitions struct {
	// ID stands for Text: the same ID is the same text. The process keeps a set by it.
	ID   string
	Text string
}

// NewDefinitions names definitions by what they say.
func NewDefinitions(text string) Definitions {
	sum := sha256.Sum256([]byte(text))
	return Definitions{ID: hex.EncodeToString(sum[:16]), Text: text}
}

// Modules are what a script can require.
type Modules struct {
	// ID stands for all that Resolve may give. While it is the same, the process reads each module once, and findings are
	// remembered. "": modules may change between any two checks.
	ID string
	// Resolve finds the module that from (a chunk or a module) calls name. The module it gives is the module's one name
	// whoever requires it. nil: nothing can be required.
	Resolve func(from, name string) (module, source string, err error)
	// Names are what a script can require by a bare name, for hints.
	Names []string
}

// Request is one script to be checked.
type Request struct {
	Chunk       string // who requires, for Modules
	Source      string
	Definitions Definitions
	Modules     Modules
	Mode        Mode
}

// Severity is how much a finding weighs.
type Severity string

// Error is for calls of unknown functions, for unknown and missing fields of what is declared, and for what does not
// compile. The rest is a Warning: it may well run.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Kind is what a finding is about.
type Kind string

// The kinds.
const (
	Syntax          Kind = "syntax"
	UnknownFunction Kind = "unknown_function"
	UnknownField    Kind = "unknown_field"
	MissingField    Kind = "missing_field"
	TypeMismatch    Kind = "type_mismatch"
	MaybeNil        Kind = "maybe_nil"
	ArgumentCount   Kind = "argument_count"
	NotAFunction    Kind = "not_a_function"
	UnknownVariable Kind = "unknown_variable"
	UnknownType     Kind = "unknown_type"
	UnknownModule   Kind = "unknown_module"
	NewGlobal       Kind = "new_global"
	NewField        Kind = "new_field"
	MethodCall      Kind = "method_call"
	TooComplex      Kind = "too_complex"
	Other           Kind = "other"
)

// Finding is one thing that is wrong with a script. Lines and columns begin at 1, columns count bytes.
type Finding struct {
	Line      int      `json:"line"`
	Column    int      `json:"column"`
	EndLine   int      `json:"end_line"`
	EndColumn int      `json:"end_column"`
	Severity  Severity `json:"severity"`
	Kind      Kind     `json:"kind"`
	Message   string   `json:"message"` // one line
	Hint      string   `json:"hint,omitempty"`
}

// Text is message and hint in one line.
func (f Finding) Text() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + ", " + f.Hint
}

// String is the text with the place before it.
func (f Finding) String() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Text()) }
