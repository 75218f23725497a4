package encodingmod

import "fmt"

// CodeEncoding is the code of the error for a text that is not of its encoding.
const CodeEncoding = "encoding"

// fault is where a text leaves its encoding.
type fault struct {
	at      int // byte, from 0
	problem string
}

func (f *fault) in(function string) error { return &decodeError{function, *f} }

type decodeError struct {
	function string
	fault    fault
}

func (e *decodeError) Error() string {
	return fmt.Sprintf("%s: %s at byte %d", e.function, e.fault.problem, e.fault.at+1)
}

func (e *decodeError) ErrorCode() string { return CodeEncoding }

// ErrorFields gives the place as string.sub and string.byte count: from 1.
func (e *decodeError) ErrorFields() map[string]any { return map[string]any{"position": e.fault.at + 1} }
