package sdkmod

import (
	"context"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// given is the host of the run, and the first arguments, which are texts.
func (i *instance) given(c *luau.Call, texts int) (Host, []string, error) {
	h, err := i.host(c)
	if err != nil {
		return nil, nil, err
	}
	list := make([]string, texts)
	for n := range list {
		if list[n], err = c.Text(n); err != nil {
			return nil, nil, err
		}
	}
	return h, list, nil
}

// script: () -> (((...any) -> ...any)?, boolean?)
func (i *instance) script(c *luau.Call) error {
	h, _, err := i.given(c, 0)
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
	h, _, err := i.given(c, 0)
	if err != nil {
		return err
	}
	return c.Return(h.Sources())
}

// source: (name: string) -> string
func (i *instance) source(c *luau.Call) error {
	h, names, err := i.given(c, 1)
	if err != nil {
		return err
	}
	found, err := h.Source(names[0])
	if err != nil {
		return err
	}
	return c.ReturnString(found)
}

// operation: (name: string) -> string
func (i *instance) operation(c *luau.Call) error {
	h, names, err := i.given(c, 1)
	if err != nil {
		return err
	}
	return c.ReturnString(h.Operation(names[0]))
}

// split: (name: string) -> (string, string)
func (i *instance) split(c *luau.Call) error {
	h, names, err := i.given(c, 1)
	if err != nil {
		return err
	}
	source, function, err := h.Split(names[0])
	if err != nil {
		return err
	}
	return c.Return(source, function)
}

// functions: (source: string) -> {string}
func (i *instance) functions(c *luau.Call) error {
	h, names, err := i.given(c, 1)
	if err != nil {
		return err
	}
	return c.Return(h.Functions(names[0]))
}

// find: (source: string, name: string) -> (number, string)
func (i *instance) function(c *luau.Call) error {
	h, names, err := i.given(c, 2)
	if err != nil {
		return err
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
	h, texts, err := i.given(c, 2)
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
	return i.vm.Await(c, func(context.Context) ([]any, error) { return both(h.Kept(texts[0], texts[1], from, to)) })
}

// both are the kind of a text and the text, as results.
func both(kind, text string, err error) ([]any, error) {
	if err != nil {
		return nil, err
	}
	return []any{kind, text}, nil
}

// onFiles waits for work with the files and the text of each argument; a text that it gives is the result.
func (i *instance) onFiles(c *luau.Call, texts int, work func(context.Context, Files, []string) (*string, error)) error {
	h, args, err := i.given(c, texts)
	if err != nil {
		return err
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
