package luau

// Raised is the error that a script's value with this code and message stands for, with the frames of
// the code that runs now: for a host function that an error handler calls. The handler's own frames
// are left out.
func (s *State) Raised(code Code, message string) *Error {
	e := &Error{Code: code, Message: message}
	if e.Code == "" {
		e.Code = CodeRuntime
	}
	if s.acquire() != nil {
		return e
	}
	defer s.done()
	d := decoder{state: s, data: s.vm.Traceback().Data}
	if list, err := d.value(0); err == nil {
		e.Frames = readFrames(list)
	}
	e.Frames = afterHandler(e.Frames)
	e.locate()
	return e
}

// afterHandler drops the host function and the script's handler that called it.
func afterHandler(frames []Frame) []Frame {
	for i, f := range frames {
		if f.Line > 0 {
			return frames[i+1:]
		}
	}
	return frames
}
