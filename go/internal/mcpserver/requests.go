package mcpserver

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// requestHeader carries, within the process, the number of an HTTP request to the handlers of what was in it.
const requestHeader = "Hukilau-Request"

// requests are the HTTP requests under way. A session's handlers know the context of the session only; a client
// that hangs up on a request is seen by its own. There is no way to fetch the answer later, so nobody wants it
// any more. The zero value is ready.
type requests struct {
	last atomic.Uint64
	all  sync.Map // *underWay by number
}

type underWay struct {
	ctx context.Context
	out *reply
}

// begin numbers a request.
func (r *requests) begin(req *http.Request, out *reply) (end func()) {
	number := strconv.FormatUint(r.last.Add(1), 10)
	r.all.Store(number, &underWay{req.Context(), out})
	req.Header.Set(requestHeader, number)
	return func() { r.all.Delete(number) }
}

// follow is for a call: it ends ctx with the HTTP request that the header is of.
func (r *requests) follow(ctx context.Context, header http.Header) (context.Context, func()) {
	number := header.Get(requestHeader)
	if number == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	found, ok := r.all.Load(number)
	if !ok {
		cancel(context.Canceled) // it is gone already
		return ctx, func() {}
	}
	found.(*underWay).out.calling()
	request := found.(*underWay).ctx
	stop := context.AfterFunc(request, func() { cancel(context.Cause(request)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
