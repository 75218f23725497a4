package capi

/*
#include "hukilau.h"

#cgo nocallback hk_profile_start
#cgo nocallback hk_profile_stop
*/
import "C"

import "unsafe"

// AttendSample is HK_ATTEND_SAMPLE.
const AttendSample = C.HK_ATTEND_SAMPLE

// Kinds of a ProfileFrame.
const (
	FrameLuau    = C.HK_FRAME_LUAU
	FrameBuiltin = C.HK_FRAME_BUILTIN
	FrameHost    = C.HK_FRAME_HOST
	FrameNote    = C.HK_FRAME_NOTE
)

// ProfileFrame is hk_frame.
type ProfileFrame struct {
	Name, Chunk   string
	Defined, Line int
	Kind          uint32
}

// ProfileStack is hk_stack.
type ProfileStack struct {
	Parent, Frame        uint32
	Samples, Nanoseconds uint64
}

// Profile is hk_profile, copied.
type Profile struct {
	Frames                     []ProfileFrame
	Stacks                     []ProfileStack
	Samples, Nanoseconds, Lost uint64
}

// ProfileStart is hk_profile_start; false: no memory.
func (vm VM) ProfileStart() bool { return C.hk_profile_start(vm.p) != 0 }

// ProfileStop is hk_profile_stop.
func (vm VM) ProfileStop() Profile {
	var c C.hk_profile
	C.hk_profile_stop(vm.p, &c)
	p := Profile{Samples: uint64(c.samples), Nanoseconds: uint64(c.nanoseconds), Lost: uint64(c.lost)}
	p.Frames = make([]ProfileFrame, 0, int(c.frame_count))
	for _, f := range unsafe.Slice(c.frames, int(c.frame_count)) {
		p.Frames = append(p.Frames, ProfileFrame{
			Name:  C.GoStringN(f.name, C.int(f.name_size)),
			Chunk: C.GoStringN(f.chunk, C.int(f.chunk_size)),
			// Lines fit: Luau's own are ints.
			Defined: int(f.defined), Line: int(f.line), Kind: uint32(f.kind),
		})
	}
	p.Stacks = make([]ProfileStack, 0, int(c.stack_count))
	for _, s := range unsafe.Slice(c.stacks, int(c.stack_count)) {
		p.Stacks = append(p.Stacks, ProfileStack{uint32(s.parent), uint32(s.frame), uint64(s.samples), uint64(s.nanoseconds)})
	}
	return p
}
