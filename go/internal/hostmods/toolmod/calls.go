package toolmod

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// about: () -> {[string]: any}
func (i *instance) about(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	return c.Return(h.About())
}

// config: () -> {[string]: any}
func (i *instance) config(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	return c.Return(h.Config())
}

// tools: () -> {string}
func (i *instance) tools(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	return c.Return(h.Tools())
}

// seed: () -> number
func (i *instance) seed(c *luau.Call) error {
	var word [4]byte
	if _, err := io.ReadFull(hostmod.Random(i.vm), word[:]); err != nil {
		return err
	}
	return c.ReturnNumber(float64(binary.LittleEndian.Uint32(word[:]) >> 1))
}

// waiting gives the host and the text of each argument, and waits for work on them. What work gives is the
// result: a JSON text, or nil.
func (i *instance) waiting(c *luau.Call, texts int, work func(context.Context, Host, []string) ([]byte, error)) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	args := make([]string, texts)
	for n := range args {
		if args[n], err = c.Text(n); err != nil {
			return err
		}
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		text, err := work(ctx, h, args)
		if err != nil || text == nil {
			return nil, err
		}
		return []any{string(text)}, nil
	})
}

// emit: (chunk: string) -> ()
func (i *instance) emit(c *luau.Call) error {
	return i.waiting(c, 1, func(ctx context.Context, h Host, args []string) ([]byte, error) {
		return nil, h.Emit(ctx, []byte(args[0]))
	})
}

// progress: (done: number, total: number?, text: string?) -> ()
func (i *instance) progress(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	done, err := c.Number(0)
	if err != nil {
		return err
	}
	total, err := c.NumberOpt(1, 0)
	if err != nil {
		return err
	}
	text, err := c.TextOpt(2, "")
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) { return nil, h.Progress(ctx, done, total, text) })
}

// call: (name: string, arguments: string) -> string
func (i *instance) call(c *luau.Call) error {
	return i.waiting(c, 2, func(ctx context.Context, h Host, args []string) ([]byte, error) {
		return h.CallTool(ctx, args[0], []byte(args[1]))
	})
}

// generate: (request: string) -> string
func (i *instance) generate(c *luau.Call) error {
	return i.waiting(c, 1, func(ctx context.Context, h Host, args []string) ([]byte, error) {
		return h.Generate(ctx, []byte(args[0]))
	})
}

// elicit: (message: string, schema: string) -> string
func (i *instance) elicit(c *luau.Call) error {
	return i.waiting(c, 2, func(ctx context.Context, h Host, args []string) ([]byte, error) {
		return h.Elicit(ctx, args[0], []byte(args[1]))
	})
}

// maxStreams is how many streams and agents one run may have open at once.
const maxStreams = 64

// open keeps what work opens under a number, which becomes the script's.
func (i *instance) open(c *luau.Call, texts int, work func(context.Context, Host, []string) (Stream, error)) error {
	if len(i.streams) >= maxStreams {
		i.forgetFailed()
	}
	if len(i.streams) >= maxStreams {
		return &luau.Error{Code: luau.CodeLimit, Message: fmt.Sprintf(
			"%s: %d streams and agents of this call are open; close what is no longer needed", c.Name(), maxStreams)}
	}
	if i.streams == nil {
		i.streams = map[uint64]Stream{}
	}
	i.last++
	id := i.last
	later := &opening{}
	i.streams[id] = later
	return i.waiting(c, texts, func(ctx context.Context, h Host, args []string) ([]byte, error) {
		s, err := work(ctx, h, args)
		if err == nil {
			err = later.opened(s)
		}
		if err != nil {
			later.Close()
			return nil, err
		}
		return fmt.Append(nil, id), nil
	})
}

// forgetFailed drops the streams that could not be opened.
func (i *instance) forgetFailed() {
	for id, s := range i.streams {
		if o := s.(*opening); o.isClosed() {
			delete(i.streams, id)
		}
	}
}

// stream: (request: string) -> string
func (i *instance) stream(c *luau.Call) error {
	return i.open(c, 1, func(ctx context.Context, h Host, args []string) (Stream, error) {
		return h.GenerateStream(ctx, []byte(args[0]))
	})
}

// agent: (name: string, config: string) -> string
func (i *instance) agent(c *luau.Call) error {
	return i.open(c, 2, func(ctx context.Context, h Host, args []string) (Stream, error) {
		return h.NewAgent(ctx, args[0], []byte(args[1]))
	})
}
