package toolhost

import (
	"fmt"
	"time"
)

// room accounts for the memory of the large values of one tool, which share the bound of the host.
type room struct {
	host *Host
	tool string
	most int64 // bytes
	held int64
}

func (c *call) newRoom() room { return room{host: c.host, tool: c.tool.Name, most: c.runner.memory()} }

// taking returns what takes more bytes until free is called. what begins the message.
func (r *room) taking(what string) func(more int64) error {
	return func(more int64) error {
		if r.held+more > r.most {
			return &Error{Code: TooLarge, Detail: "memory", Message: fmt.Sprintf("%s more memory than tool '%s' has: %d bytes", what, r.tool, r.most)}
		}
		if failed := r.host.hold(more); failed != nil {
			return failed
		}
		r.held += more
		return nil
	}
}

func (r *room) free() {
	if r.held > 0 {
		r.host.held.Add(-r.held)
	}
}

// freeRoom is below which nobody accounts for a value.
const freeRoom = 1 << 20

// Room accounts for the memory, in bytes, that a large value takes until free is called: a face that reads one before
// it calls shares the bound of all calls.
func (h *Host) Room(bytes int64) (free func(), failed *Error) {
	if bytes <= freeRoom {
		return func() {}, nil
	}
	if failed := h.hold(bytes); failed != nil {
		return nil, failed
	}
	return func() { h.held.Add(-bytes) }, nil
}

// hold takes bytes of Options.Values.
func (h *Host) hold(bytes int64) *Error {
	if h.held.Add(bytes) > h.options.Values {
		h.held.Add(-bytes)
		return &Error{Code: Busy, Message: "too many calls with large values at once; try again later", RetryAfter: time.Second}
	}
	return nil
}
