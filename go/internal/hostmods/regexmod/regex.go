// Package regexmod gives scripts regular expressions: Go's, in the syntax of RE2, whose time grows with
// the length of the text and never explodes. Positions are bytes from 1, as string.find counts.
package regexmod

import (
	"context"
	_ "embed"
	"math"
	"regexp"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed regex.d.luau
var Stub string

// Module is the regex module with its cache of compiled patterns. Its zero value is ready, and any
// goroutine may use it; it must not be copied.
type Module struct{ cache cache }

var _ hostmod.Module = (*Module)(nil)

// Name implements hostmod.Module.
func (*Module) Name() string { return "regex" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{vm: vm, cache: &m.cache, searching: make(chan struct{}, maxOfVM)}, nil
}

type instance struct {
	hostmod.Plain
	vm        hostmod.VM
	cache     *cache
	searching chan struct{} // has one for each long search of the VM
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{
		"groups": luau.Func{Name: "regex.compile", Do: i.groups, Pure: true},
		"escape": luau.Func{Name: "regex.escape", Do: escape, Pure: true},
	}
	for name, do := range map[string]func(*luau.Call) error{
		"find": i.find, "match": i.match, "find_all": i.findAll, "replace": i.replace, "split": i.split,
	} {
		exports[name] = luau.Func{Name: "regex." + name, Do: do, MayWait: true, Pure: true}
	}
	return exports
}

// groups: (pattern: string) -> {string}
func (i *instance) groups(c *luau.Call) error {
	p, err := i.pattern(c)
	if err != nil {
		return err
	}
	names := make([]any, 0, len(p.names))
	for _, name := range p.names[1:] {
		names = append(names, name)
	}
	return c.Return(names)
}

// escape: (text: string | buffer) -> string
func escape(c *luau.Call) error {
	text, err := c.Bytes(0)
	if err != nil {
		return err
	}
	return c.ReturnString(regexp.QuoteMeta(string(text)))
}

func (i *instance) pattern(c *luau.Call) (*pattern, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	p, err := i.cache.get(text)
	return p, named(c.Name(), err)
}

// named puts the function in front of an error's message. One of memory has it.
func named(function string, err error) error {
	if e, ok := err.(*luau.Error); ok && e.Code != luau.CodeMemory {
		return &luau.Error{Code: e.Code, Message: function + ": " + e.Message}
	}
	return err
}

// maxInPlace is the work that is done on the VM's goroutine: some milliseconds. Beyond, other tasks of
// the script go on meanwhile.
const maxInPlace = 200_000

// search reads pattern and subject and lets f search; `room` counts the subject.
func (i *instance) search(c *luau.Call, f func(*search, *hostmod.Room) ([]any, error)) error {
	p, err := i.pattern(c)
	if err != nil {
		return err
	}
	subject, err := c.Bytes(1)
	if err != nil {
		return err
	}
	s, name := &search{pattern: p, subject: subject}, c.Name()
	long := s.work(len(subject)) > maxInPlace
	return hostmod.Compute(i.vm, c, long, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take(int64(len(subject))); err != nil {
			return nil, err
		}
		if long {
			done, err := i.turn(ctx)
			if err != nil {
				return nil, err
			}
			defer done()
		}
		if err := room.Take(p.machine.memory(len(subject))); err != nil {
			return nil, err
		}
		s.ctx = ctx
		values, err := f(s, room)
		return values, named(name, err)
	})
}

// start is where a search begins, in bytes from 0, for a place that counts from 1 or, negative, from
// the end; -1 behind the end.
func start(place, length int) int {
	if place < 0 {
		place += length + 1
	}
	place = max(1, place)
	if place > length+1 {
		return -1
	}
	return place - 1
}

// limit is the most matches that a function handles; without one, all.
func limit(c *luau.Call, i int) (int, error) {
	n, err := c.IntOpt(i, math.MaxInt)
	if err == nil && n < 0 {
		err = c.Argument(i, "must be 0 or more")
	}
	return n, err
}
