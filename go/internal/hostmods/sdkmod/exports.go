package sdkmod

import (
	"context"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// script: () -> (((...any) -> ...any)?, boolean?)
func (i *instance) script(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	s := h.Script()
	if s == nil {
		return c.Return(nil)
	}
	fn, err := c.State().Load(s.Code, s.Chunk, luau.LoadOptions{})
	if err != nil {
		return err
	}
	return c.Return(fn, s.MustSay)
}

// sources: () -> {string}
func (i *instance) sources(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	return c.Return(h.Sources())
}

// source: (name: string) -> string
func (i *instance) source(c *luau.Call) error {
	return i.text(c, func(h Host, name string) (string, error) { return h.Source(name) })
}

// operation: (name: string) -> string
func (i *instance) operation(c *luau.Call) error {
	return i.text(c, func(h Host, name string) (string, error) { return h.Operation(name), nil })
}

// text gives the text that find makes of the first argument.
func (i *instance) text(c *luau.Call, find func(Host, string) (string, error)) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	found, err := find(h, name)
	if err != nil {
		return err
	}
	return c.ReturnString(found)
}

// split: (name: string) -> (string, string)
func (i *instance) split(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	source, function, err := h.Split(name)
	if err != nil {
		return err
	}
	return c.Return(source, function)
}

// functions: (source: string) -> {string}
func (i *instance) functions(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	source, err := c.Text(0)
	if err != nil {
		return err
	}
	return c.Return(h.Functions(source))
}

// find: (source: string, name: string) -> (number, string)
func (i *instance) function(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	var names [2]string
	for n := range names {
		if names[n], err = c.Text(n); err != nil {
			return err
		}
	}
	f, err := h.Function(names[0], names[1])
	if err != nil {
		return err
	}
	return c.Return(float64(f.Takes), f.Label)
}

// call: (source: string, name: string, as: string, params: string, body: string, raw: boolean) -> (string, string)
func (i *instance) call(c *luau.Call) error {
	made, err := i.asked(c)
	if err != nil {
		return err
	}
	return i.vm.Await(c, made)
}

// kept: (handle: string, path: string, from: number, to: number) -> (string, string)
func (i *instance) kept(c *luau.Call) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	handle, err := c.Text(0)
	if err != nil {
		return err
	}
	path, err := c.Text(1)
	if err != nil {
		return err
	}
	from, err := c.Int(2)
	if err != nil {
		return err
	}
	to, err := c.Int(3)
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(context.Context) ([]any, error) {
		kind, text, err := h.Kept(handle, path, from, to)
		if err != nil {
			return nil, err
		}
		return []any{kind, text}, nil
	})
}

// onFiles waits for work with the files and the text of each argument; a text that it gives is the result.
func (i *instance) onFiles(c *luau.Call, texts int, work func(context.Context, Files, []string) (*string, error)) error {
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
		text, err := work(ctx, h.Files(), args)
		if err != nil || text == nil {
			return nil, err
		}
		return []any{*text}, nil
	})
}

// read: (path: string) -> string
func (i *instance) read(c *luau.Call) error {
	return i.onFiles(c, 1, func(ctx context.Context, f Files, args []string) (*string, error) {
		text, err := f.Read(ctx, args[0])
		return &text, err
	})
}

// write: (path: string, text: string, add: boolean?) -> ()
func (i *instance) write(c *luau.Call) error {
	add, err := c.BoolOpt(2, false)
	if err != nil {
		return err
	}
	return i.onFiles(c, 2, func(ctx context.Context, f Files, args []string) (*string, error) {
		return nil, f.Write(ctx, args[0], args[1], add)
	})
}

// list: (folder: string) -> string
func (i *instance) list(c *luau.Call) error {
	return i.onFiles(c, 1, func(ctx context.Context, f Files, args []string) (*string, error) {
		text, err := f.List(ctx, args[0])
		return &text, err
	})
}

// remove: (path: string) -> ()
func (i *instance) remove(c *luau.Call) error {
	return i.onFiles(c, 1, func(ctx context.Context, f Files, args []string) (*string, error) {
		return nil, f.Remove(ctx, args[0])
	})
}
