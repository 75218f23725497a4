package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// globals are what the scripts expect beside Luau's own libraries, made by public means of the
// binding: host functions in Go. Nothing that the sandbox removed comes back for real.
//
// is_native answers yes always: whether a function runs as native code cannot be seen from Go, so
// the asserts about it prove nothing here, while all that the scripts compute in native code does.
func globals() map[string]luau.Func {
	yes := func(c *luau.Call) error { return c.Return(true) }
	list := map[string]luau.Func{
		"loadstring":             {Do: loadstring},
		"collectgarbage":         {Do: collectgarbage},
		"gcinfo":                 {Do: count},
		"is_native":              {Do: yes},
		"is_native_if_supported": {Do: yes},
		"cxxthrow":               {Do: func(*luau.Call) error { return &luau.Error{Code: luau.CodeRuntime, Message: "oops", Value: "oops"} }},
	}
	for name, f := range list {
		f.Name = name
		list[name] = f
	}
	return list
}

// loadstring: (source: string, chunk: string?) -> (function?, string?)
func loadstring(c *luau.Call) error {
	source, err := c.Text(0)
	if err != nil {
		return err
	}
	chunk := source
	if !c.IsNil(1) {
		if chunk, err = c.Text(1); err != nil {
			return err
		}
	}
	code, err := luau.Compile(chunk, source, luau.CompileOptions{})
	if err != nil {
		var e *luau.Error
		if errors.As(err, &e) {
			return c.Return(nil, fmt.Sprintf("%s:%d: %s", shown(chunk), e.Line, e.Message))
		}
		return err
	}
	f, err := c.State().Load(code, chunk, luau.LoadOptions{})
	if err != nil {
		return err
	}
	defer f.Release() // else Go keeps alive what the script dropped
	return c.Return(f)
}

// shown is a chunk's name as Luau's own load puts it in front of an error.
func shown(chunk string) string {
	if strings.HasPrefix(chunk, "@") || strings.HasPrefix(chunk, "=") {
		return luau.ChunkName(chunk)
	}
	return fmt.Sprintf("[string %q]", chunk)
}

// collectgarbage: (what: "collect" | "count" | "step"?) -> number | boolean
func collectgarbage(c *luau.Call) error {
	what := "collect"
	if !c.IsNil(0) {
		var err error
		if what, err = c.Text(0); err != nil {
			return err
		}
	}
	switch what {
	case "count":
		return count(c)
	case "collect":
		if err := c.State().Collect(); err != nil {
			return err
		}
		return c.Return(0)
	case "step":
		if err := c.State().Collect(); err != nil {
			return err
		}
		return c.Return(true)
	}
	return fmt.Errorf("invalid option '%s': the binding can collect, step and count", what)
}

func count(c *luau.Call) error {
	stats, err := c.State().Stats()
	if err != nil {
		return err
	}
	return c.ReturnNumber(float64(stats.MemoryUsed / 1024))
}
