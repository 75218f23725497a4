// Package processmod is the process as the script of a plain runner sees it: its arguments, its
// standard input, its working directory and how it ends. A host that serves many scripts leaves the module out.
package processmod

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed process.d.luau
var Stub string

// Exit is the cause of a run that its own script ended with process.exit.
type Exit struct{ Code int }

// Error says so.
func (e *Exit) Error() string {
	return "the script ended with process.exit(" + strconv.Itoa(e.Code) + ")"
}

// Module is the process module. Any goroutine may use it, but one VM alone may read Input.
type Module struct {
	// Args are the script's arguments.
	Args []string
	// Cwd gives the working directory.
	Cwd func() (string, error)
	// Input is standard input. nil: it is at its end.
	Input io.Reader
	// NoInput is why scripts may not read standard input. "": they may.
	NoInput string
}

var _ hostmod.Module = (*Module)(nil)

// Name implements hostmod.Module.
func (*Module) Name() string { return "process" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{Module: m, vm: vm}, nil
}

type instance struct {
	hostmod.Plain
	*Module
	vm    hostmod.VM
	input *input // once it was read
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"args": i.Args,
		"exit": luau.Func{Name: "process.exit", Do: i.exit},
		"cwd":  luau.Func{Name: "process.cwd", Do: i.cwd},

		"read_line": luau.Func{Name: "process.read_line", MayWait: true, Quiet: true, Do: i.readLine},
		"read":      luau.Func{Name: "process.read", MayWait: true, Quiet: true, Do: i.read},
		"read_all":  luau.Func{Name: "process.read_all", MayWait: true, Quiet: true, Do: i.readAll},
	}
}

// EndRun implements hostmod.Instance.
func (i *instance) EndRun() {
	if i.input != nil {
		i.input.endRun()
	}
}

// read_line: () -> string?
func (i *instance) readLine(c *luau.Call) error { return i.take(c, takeLine) }

// read: (size: number?) -> string?
func (i *instance) read(c *luau.Call) error {
	size, err := c.IntOpt(0, chunk)
	if err != nil {
		return err
	}
	if size < 1 {
		return c.Argument(0, fmt.Sprintf("must be a number of bytes above 0, got %d", size))
	}
	return i.take(c, takeSome(size))
}

// read_all: () -> string
func (i *instance) readAll(c *luau.Call) error { return i.take(c, takeAll) }

// take gives what is there at once, and else waits for it.
func (i *instance) take(c *luau.Call, take taker) error {
	if i.NoInput != "" {
		return &luau.Error{Code: "io", Message: c.Name() + ": " + i.NoInput}
	}
	if i.input == nil {
		i.input = newInput(cmp.Or[io.Reader](i.Input, strings.NewReader("")), i.vm)
	}
	in, name := i.input, c.Name()
	switch value, done, err := in.try(take); {
	case err != nil:
		return told(name, err)
	case done:
		return c.Return(value)
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		value, err := in.wait(ctx, take)
		if err != nil {
			if ctx.Err() == nil {
				err = told(name, err)
			}
			return nil, err
		}
		return []any{value}, nil
	})
}

const maxCode = 255

// exit: (code: number?) -> never
func (i *instance) exit(c *luau.Call) error {
	code, err := c.IntOpt(0, 0)
	if err != nil {
		return err
	}
	if code < 0 || code > maxCode {
		return c.Argument(0, fmt.Sprintf("must be from 0 to %d, got %d", maxCode, code))
	}
	i.vm.End(&Exit{code})
	return nil
}

// cwd: () -> string
func (i *instance) cwd(c *luau.Call) error {
	dir, err := i.Cwd()
	if err != nil {
		return &luau.Error{Code: "io", Message: "process.cwd: the working directory is not known: " + err.Error()}
	}
	g := i.vm.Grants()
	switch {
	case denied(g.DenyRead, dir):
		return &hostmod.PermissionError{Key: "deny_read",
			Message: "process.cwd: the working directory is denied by deny_read (on the command line: --deny-read)"}
	case !g.All && !granted(g.Read, dir):
		return &hostmod.PermissionError{Key: "read",
			Message: "process.cwd: the working directory is not granted; add it to read (on the command line: --allow-read=.)"}
	}
	return c.ReturnString(dir)
}

// granted says whether dir is in one of the folders, which are seen from it.
func granted(folders []string, dir string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return folder == "*" || hostmod.Inside(hostmod.From(dir, folder), dir)
	})
}

// denied says as module fs does whether dir is in one of the folders, by their names or by where links
// lead.
func denied(folders []string, dir string) bool {
	if granted(folders, dir) {
		return true
	}
	real := followed(dir)
	return slices.ContainsFunc(folders, func(folder string) bool {
		folder = hostmod.From(dir, folder)
		target := followed(folder)
		return hostmod.Inside(folder, real) || hostmod.Inside(target, dir) || hostmod.Inside(target, real)
	})
}

// followed is the path without links; as it is when it does not exist.
func followed(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}
