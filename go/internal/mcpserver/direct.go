package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// direct answers calls of tools in a session over standard streams by itself. The SDK decodes each request four times,
// through buffers of 32 KB, and hands it from goroutine to goroutine; for small scripts that is most of the work. What is
// not plain (another method, the stateless revision, a call before the session has begun, a tool that is not listed,
// params of any other shape) goes to the SDK as ever, with its words for what is wrong.
type direct struct {
	server  *Server
	session *mcp.ServerSession
	lines   *lines
	ctx     context.Context // of all calls
	running sync.WaitGroup
	idle    chan func() // for a goroutine that has done its call

	mu  sync.Mutex
	all map[jsonrpc.ID]context.CancelFunc // of calls under way
}

// take says whether it answers the request.
func (d *direct) take(request *jsonrpc.Request) bool {
	if request.Method != "tools/call" || !request.IsCall() {
		return false
	}
	if began := d.session.InitializeParams(); began == nil || began.ProtocolVersion >= stateless {
		return false
	}
	params := plainCall(request.Params)
	if params == nil || !d.server.lists(params.Name) {
		return false
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.mu.Lock()
	d.all[request.ID] = cancel
	d.mu.Unlock()
	d.run(func() {
		defer cancel()
		d.answer(ctx, request.ID, &mcp.CallToolRequest{Session: d.session, Params: params})
	})
	return true
}

// run does a call on a goroutine. One that has done others has the stack for it already, which grows to 32 KB and is
// copied each time.
func (d *direct) run(call func()) {
	select {
	case d.idle <- call:
		return
	default:
	}
	d.running.Go(func() {
		for {
			call()
			select {
			case call = <-d.idle:
			case <-d.ctx.Done():
				return
			}
		}
	})
}

// plainCall are the params of a call as sessions write them; nil for all others.
func plainCall(text json.RawMessage) *mcp.CallToolParamsRaw {
	var members map[string]json.RawMessage // a struct would take the keys in any case
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	params := &mcp.CallToolParamsRaw{}
	for key, value := range members {
		switch key {
		case "name":
			if value[0] != '"' || json.Unmarshal(value, &params.Name) != nil {
				return nil
			}
		case "arguments":
			params.Arguments = value
		case "_meta":
			if json.Unmarshal(value, &params.Meta) != nil || params.Meta[mcp.MetaKeyProtocolVersion] != nil {
				return nil
			}
		default:
			return nil
		}
	}
	return params
}

// lists says whether clients see a tool.
func (s *Server) lists(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.listed[name]
	return ok
}

func (d *direct) answer(ctx context.Context, id jsonrpc.ID, req *mcp.CallToolRequest) {
	text, err := d.server.answer(ctx, req, d.session)
	d.mu.Lock()
	delete(d.all, id)
	d.mu.Unlock()
	if err != nil {
		_ = d.lines.Write(ctx, &jsonrpc.Response{ID: id, Error: err}) // as below
		return
	}
	if d.lines.give(id, text) != nil {
		d.lines.Close() // whom nothing can be told has gone
	}
}

// cancel ends a call. Others are not known here.
func (d *direct) cancel(id jsonrpc.ID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cancel := d.all[id]; cancel != nil {
		cancel()
	}
}

// answer is the JSON text of a call's result.
func (s *Server) answer(ctx context.Context, req *mcp.CallToolRequest, client peer) ([]byte, error) {
	told := &sink{redact: s.options.Redact, tool: req.Params.Name}
	told.attach(ctx, req, client)
	o := s.inSession(ctx, req, told, client)
	if o.failed == nil && o.answer.MCP != nil && json.Valid(o.answer.MCP) {
		return inOneLine(o.answer.MCP), nil
	}
	result, err := s.finish(req, o)
	if err != nil {
		return nil, err
	}
	if result.Content == nil {
		result.Content = []mcp.Content{} // null is no list
	}
	return json.Marshal(result)
}

// inOneLine is valid JSON without the ends of lines between its tokens: they would end a message, or an event.
func inOneLine(text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	var one bytes.Buffer
	_ = json.Compact(&one, text) // it is valid
	return one.Bytes()
}

// give answers a call with the text of its result. It writes by itself, as nothing waits for it but the end of the call:
// that costs less than to hand the line to another goroutine and to wait for it.
func (l *lines) give(id jsonrpc.ID, result []byte) error {
	defer l.answered()
	if gone := l.answering(id); gone {
		return nil
	}
	name, err := json.Marshal(id.Raw())
	if err != nil {
		return err
	}
	line := make([]byte, 0, len(result)+len(name)+40)
	line = append(append(append(line, `{"jsonrpc":"2.0","id":`...), name...), `,"result":`...)
	return l.put(append(append(line, result...), "}\n"...))
}
