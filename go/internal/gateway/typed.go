package gateway

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// TypeChecker checks scripts with the types of the catalogue's functions.
type TypeChecker struct {
	checker *typecheck.Checker
	modules typecheck.Modules

	mu    sync.Mutex
	whole *catalog.Catalog // that all is what was declared of
	all   typecheck.Definitions
}

// maxWhole is how many functions are declared for each script. Of more, those alone that it mentions: to load a set
// takes time, and each script has its own then.
const maxWhole = 300

// definitions declare the functions that a script may call.
func (t *TypeChecker) definitions(script string, c *catalog.Catalog) typecheck.Definitions {
	if c.Len() > maxWhole {
		return declared(luautype.DefinitionsFor(c, definitionsOf(c), luautype.Mentioned(script)))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whole != c {
		t.whole, t.all = c, declared(luautype.Definitions(c, definitionsOf(c)))
	}
	return t.all
}

// declared makes the types private: the checker takes much longer for those that are exported.
func declared(text string) typecheck.Definitions {
	return typecheck.NewDefinitions(strings.ReplaceAll("\n"+text, "\nexport type ", "\ntype "))
}

// NewTypeChecker makes one. modules are what scripts can require.
func NewTypeChecker(c *typecheck.Checker, modules typecheck.Modules) *TypeChecker {
	return &TypeChecker{checker: c, modules: modules}
}

// Check implements Checker.
func (t *TypeChecker) Check(ctx context.Context, script string, c *catalog.Catalog) ([]Finding, error) {
	list, err := t.checker.Check(ctx, typecheck.Request{
		Chunk: "script", Source: script, Modules: t.modules, Mode: typecheck.Strict,
		Definitions: t.definitions(script, c),
	})
	if err != nil {
		return nil, err
	}
	found := make([]Finding, 0, len(list))
	for _, f := range list {
		found = append(found, Finding{Line: f.Line, Column: f.Column, Message: meant(f, c), Fatal: f.Severity == typecheck.Error})
	}
	return found, nil
}

// missing is what the checker says of a function or a source that there is not.
var missing = regexp.MustCompile(`^(?:sdk\.)?(\w+): (?:function|field) '([^']*)' does not exist$`)

// meant is the text of a finding. The checker knows the functions alone that the script mentions; which other one was
// meant is looked for here.
func meant(f typecheck.Finding, c *catalog.Catalog) string {
	if f.Kind != typecheck.UnknownFunction && f.Kind != typecheck.UnknownField {
		return f.Text()
	}
	found := missing.FindStringSubmatch(f.Message)
	if found == nil {
		return f.Text()
	}
	if scope := c.Source(found[1]); scope != nil && scope.Function(found[2]) == nil {
		return scope.Unknown(found[2]).Error()
	}
	if found[1] == "sdk" && c.Source(found[2]) == nil {
		return c.Unknown(found[2]).Error()
	}
	return f.Text()
}
