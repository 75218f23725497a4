package mcpserver

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio serves one client over a pair of streams, one message a line, until in ends or ctx does. Nothing but
// messages is written to out. Calls that run when in ends have Options.Grace to end. Who calls is what
// toolhost.WithCaller says in ctx. Where in is an io.Closer it is closed when ctx ends, to be free of a read that
// waits.
func (s *Server) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	l := newLines(in, out, &s.options)
	session, err := s.mcp.Connect(ctx, transport{l}, nil)
	if err != nil {
		return err
	}
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &direct{server: s, session: session, lines: l, ctx: calls, idle: make(chan func()), all: map[jsonrpc.ID]context.CancelFunc{}}
	l.direct.Store(d)
	ended := make(chan error, 1)
	go func() {
		err := session.Wait()
		cancel()
		d.running.Wait()
		ended <- err
	}()
	select {
	case err = <-ended:
		session.Close()
	case <-l.unread:
		l.Close()
		err = errUnread
	case <-ctx.Done():
		l.Close()
		select {
		case <-ended:
		case <-time.After(endTime): // an answer that nobody reads
		}
		err = context.Cause(ctx)
	}
	return err
}

var errUnread = errors.New("the client has closed standard input and does not read what is left to tell it")

// transport gives the SDK a connection that is there already.
type transport struct{ l *lines }

func (t transport) Connect(context.Context) (mcp.Connection, error) { return t.l, nil }
