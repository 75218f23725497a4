package luau

import "github.com/hukilau/hukilau/go/internal/capi"

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
	e.Frames = afterHandler(s.framesIn(s.vm.Traceback()))
	d := decoder{state: s, data: s.vm.Subject(message).Data}
	subject, _ := d.value(0)
	e.Subject = readSubject(subject)
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

// Stack is where a thread stands that waits or was broken off, innermost frame first, with those of the
// coroutines that it waits for in front. It is empty when the thread is gone.
func (s *State) Stack(t ThreadID) []Frame {
	if t == 0 || s.acquire() != nil {
		return nil
	}
	defer s.done()
	r := s.vm.ThreadPlace(uint64(t))
	if r.Status != capi.OK {
		return nil
	}
	return s.framesIn(r)
}

// At is e at the place that these frames give, for an error that has none.
func (e *Error) At(frames []Frame) *Error {
	copied := *e
	copied.Frames = frames
	copied.locate()
	return &copied
}
