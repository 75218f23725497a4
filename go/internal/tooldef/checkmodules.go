package tooldef

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The bounds of what is looked at in one project.
const (
	maxModules = 2000
	maxLookups = 20_000
)

// modules follows what the scripts of a set require.
type modules struct {
	resolverOf func(chunk string) (engine.Resolver, error)
	seen       map[string]*moduleInfo // by the module's ID
	lookups    int
}

// moduleInfo is what is known of a module.
type moduleInfo struct {
	wrong    string // why it cannot be loaded; "" when it can
	requires []requirement
}

// check finds the modules that a tool cannot require: those that are not there, and those that do not compile.
func (m *modules) check(t *Tool) []Finding {
	if m.resolverOf == nil || t.Agent != nil {
		return nil
	}
	c := checker{tool: t}
	resolver, err := m.resolverOf(t.Chunk)
	if err != nil {
		c.add(Failure, t.File, t.Line, "the modules of the tool cannot be found: %s", err)
		return c.list
	}
	m.follow(&c, resolver, t.Chunk, scan(t.Chunk, t.Source).requirements(), map[string]bool{})
	return c.list
}

// follow looks at what a chunk requires.
func (m *modules) follow(c *checker, resolver engine.Resolver, chunk string, requires []requirement, met map[string]bool) {
	for _, r := range requires {
		asked := chunk + "\x00" + r.name
		if r.name == "" || met[asked] || len(c.list) >= maxErrors || m.lookups >= maxLookups {
			continue
		}
		met[asked] = true
		m.lookups++
		source, err := resolver.Resolve(chunk, r.name)
		if err != nil {
			c.add(Failure, strings.TrimPrefix(chunk, "@"), r.line, "require(%q): %s", clip(r.name), moduleProblem(err))
			continue
		}
		if met[source.ID] || !strings.HasPrefix(source.Chunk, "@") { // the SDK is right
			continue
		}
		met[source.ID] = true
		info := m.module(source)
		if info == nil {
			return
		}
		if info.wrong != "" {
			c.add(Failure, strings.TrimPrefix(chunk, "@"), r.line, "require(%q): the module does not compile: %s", clip(r.name), info.wrong)
			continue
		}
		m.follow(c, resolver, source.Chunk, info.requires, met)
	}
}

// module looks at a module, once; nil when it has looked at enough.
func (m *modules) module(source module.Source) *moduleInfo {
	if info := m.seen[source.ID]; info != nil || len(m.seen) >= maxModules {
		return info
	}
	info := &moduleInfo{}
	m.seen[source.ID] = info
	if _, err := luau.Compile(source.Chunk, string(source.Code), luau.CompileOptions{}); err != nil {
		info.wrong = err.Error()
		var inModule *luau.Error
		if errors.As(err, &inModule) && inModule.Line > 0 {
			info.wrong = fmt.Sprintf("%s:%d: %s", strings.TrimPrefix(source.Chunk, "@"), inModule.Line, inModule.Message)
		}
		return info
	}
	info.requires = scan(source.Chunk, string(source.Code)).requirements()
	return info
}

// moduleProblem is why a module was not found, in one line.
func moduleProblem(err error) string {
	var at *module.Error
	if !errors.As(err, &at) {
		return err.Error()
	}
	if at.Hint == "" {
		return strings.Join(append([]string{at.Message}, at.Details...), "; ")
	}
	return at.Message + "; " + at.Hint
}
