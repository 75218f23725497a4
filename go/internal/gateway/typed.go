package gateway

import (
	"context"
	"crypto/sha256"
	"regexp"
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/typecheck"
)

// maxChecked is how many scripts' findings are remembered.
const maxChecked = 2000

// TypeChecker checks scripts with the types of the catalogue's functions: those alone that a script mentions, as the
// checker would take long over the thousands that there may be.
type TypeChecker struct {
	checker *typecheck.Checker
	modules typecheck.Modules

	mu    sync.Mutex
	known map[checkedKey][]Finding
}

type checkedKey struct {
	script  [sha256.Size]byte
	catalog *catalog.Catalog
}

// NewTypeChecker makes one. modules are what scripts can require.
func NewTypeChecker(c *typecheck.Checker, modules typecheck.Modules) *TypeChecker {
	return &TypeChecker{checker: c, modules: modules, known: map[checkedKey][]Finding{}}
}

// Check implements Checker.
func (t *TypeChecker) Check(ctx context.Context, script string, c *catalog.Catalog) ([]Finding, error) {
	key := checkedKey{sha256.Sum256([]byte(script)), c}
	t.mu.Lock()
	found, known := t.known[key]
	t.mu.Unlock()
	if known {
		return found, nil
	}
	list, err := t.checker.Check(ctx, typecheck.Request{
		Chunk: "script", Source: script, Modules: t.modules, Mode: typecheck.Strict,
		Definitions: typecheck.NewDefinitions(luautype.DefinitionsFor(c, definitionsOf(c), luautype.Mentioned(script))),
	})
	if err != nil {
		return nil, err
	}
	found = make([]Finding, 0, len(list))
	for _, f := range list {
		found = append(found, Finding{Line: f.Line, Column: f.Column, Message: meant(f, c), Fatal: f.Severity == typecheck.Error})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for old := range t.known {
		if len(t.known) < maxChecked && old.catalog == c {
			break
		}
		delete(t.known, old)
	}
	t.known[key] = found
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
