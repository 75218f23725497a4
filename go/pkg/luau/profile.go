package luau

import (
	"fmt"
	"math/rand/v2"
	"time"
	"weak"

	"github.com/hukilau/hukilau/go/internal/capi"
)

// ProfileOptions say how a profile is taken. The zero value is a good default.
type ProfileOptions struct {
	// Every is the mean time between two samples. Zero means a millisecond. It varies by half, so that
	// samples do not keep step with a loop.
	Every time.Duration
}

// Profile says where scripts spent processor time. It is made of samples: now and then a script notes, at
// a safe point, its stack and the time that it has used since the last note. Time in which it waits or
// sleeps is not in it, nor what other goroutines do for it.
type Profile struct {
	Frames  []ProfileFrame
	Stacks  []ProfileStack // each after the one around it
	Samples int
	Lost    int           // samples for whose stacks there was no room: a remark inside the known part has their time
	Time    time.Duration // of all stacks together
}

// FrameKind says what a ProfileFrame is.
type FrameKind uint32

// The kinds of frames.
const (
	LuauFrame    FrameKind = capi.FrameLuau    // a function of a chunk
	BuiltinFrame FrameKind = capi.FrameBuiltin // a function of Luau's library, or json's
	HostFrame    FrameKind = capi.FrameHost    // a [Func]
	NoteFrame    FrameKind = capi.FrameNote    // a remark, as "(garbage collector)"
)

// ProfileFrame is a function, at one of its lines.
type ProfileFrame struct {
	Kind     FrameKind
	Function string // "main chunk" and "anonymous function" where it has no name
	Chunk    string // as in [Frame]; only a LuauFrame has chunk and lines
	Defined  int    // line where the function begins
	Line     int    // line where it was
}

// String is the name that a profile shows: function and place.
func (f ProfileFrame) String() string {
	switch f.Kind {
	case LuauFrame:
		return fmt.Sprintf("%s (%s:%d)", f.Function, ChunkName(f.Chunk), f.Defined)
	case BuiltinFrame:
		return f.Function + " (builtin)"
	case HostFrame:
		return f.Function + " (host)"
	}
	return f.Function
}

// ProfileStack is one frame inside another stack.
type ProfileStack struct {
	Parent  int // index of the stack around it; -1 where there is none
	Frame   int // index of its innermost frame
	Samples int // that ended there
	Time    time.Duration
}

// StartProfile begins a profile of all that the State runs, in place of an earlier one. It lasts until
// StopProfile or Close, through Reset as well, and counts against no limit: it takes some twenty MB at most,
// and some percent of the time.
func (s *State) StartProfile(o ProfileOptions) error {
	if o.Every < 0 {
		return fail(CodeInvalid, "ProfileOptions.Every is negative")
	}
	if o.Every == 0 {
		o.Every = time.Millisecond
	}
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.done()
	s.stopSampling()
	if !s.vm.ProfileStart() {
		return fail(CodeMemory, "no memory for a profile")
	}
	s.sampling = make(chan struct{})
	go sample(weak.Make(s), o.Every, s.sampling)
	return nil
}

// StopProfile ends the profile and gives it. It is an error where none was begun.
func (s *State) StopProfile() (*Profile, error) {
	if err := s.acquire(); err != nil {
		return nil, err
	}
	defer s.done()
	if s.sampling == nil {
		return nil, fail(CodeInvalid, "StopProfile without StartProfile")
	}
	s.stopSampling()
	return newProfile(s.vm.ProfileStop()), nil
}

func (s *State) stopSampling() {
	if s.sampling != nil {
		close(s.sampling)
		s.sampling = nil
	}
}

// sample asks for samples until it is stopped. It does not keep a forgotten State alive.
func sample(of weak.Pointer[State], every time.Duration, stop <-chan struct{}) {
	next := func() time.Duration { return every/2 + rand.N(every) }
	tick := time.NewTimer(next())
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		tick.Reset(next())
		s := of.Value()
		if s == nil {
			return
		}
		s.guard.Lock()
		if !s.closed {
			s.vm.Attend(capi.AttendSample)
		}
		s.guard.Unlock()
	}
}

func newProfile(c capi.Profile) *Profile {
	p := &Profile{
		Frames: make([]ProfileFrame, len(c.Frames)), Stacks: make([]ProfileStack, len(c.Stacks)),
		Samples: int(c.Samples), Lost: int(c.Lost), Time: time.Duration(c.Nanoseconds),
	}
	for i, f := range c.Frames {
		p.Frames[i] = ProfileFrame{FrameKind(f.Kind), f.Name, f.Chunk, f.Defined, f.Line}
	}
	for i, s := range c.Stacks {
		p.Stacks[i] = ProfileStack{int(s.Parent) - 1, int(s.Frame) - 1, int(s.Samples), time.Duration(s.Nanoseconds)}
	}
	return p
}
