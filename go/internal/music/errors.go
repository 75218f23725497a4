package music

import (
	"errors"
	"fmt"
)

// The codes of errors.
const (
	CodeNotFound  = "not_found"        // there is no such song
	CodeAmbiguous = "ambiguous"        // several files have the song's name
	CodeRefused   = "permission"       // a link leads out of the folder
	CodeName      = "invalid_argument" // no name of a song, or a setting that is none
	CodeAudio     = "invalid_audio"    // the file cannot be played
	CodeIO        = "io"               // reading the file failed
	CodeOutput    = "output"           // the output does not take the sound
	CodeClosed    = "closed"           // the player is closed
)

// Error is any failure of this package.
type Error struct {
	Code, Message string
	cause         error
}

func (e *Error) Error() string { return e.Message }

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return e.Code }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

func fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of the first Error in err's chain, or empty.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// damaged says why a file is no sound.
func damaged(format string, args ...any) error { return fail(CodeAudio, format, args...) }

// errStopped ends the reading for a song that is over.
var errStopped = errors.New("stopped")

// about puts in front which song an error is about.
func about(song string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	return &Error{Code: e.Code, Message: fmt.Sprintf("song %q: %s", song, e.Message), cause: err}
}
