package toolhost

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/internal/module"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

var (
	//go:embed prelude.luau
	prelude string
	//go:embed ctx_models.luau
	ctxModels []byte
	//go:embed ctx_legacy.luau
	ctxLegacy []byte
	//go:embed outside.luau
	outside string
)

// preludeParts are what the prelude requires: most tools need none, and an image without them takes less time to reset.
var preludeParts = map[string][]byte{"ctx/models": ctxModels, "ctx/legacy": ctxLegacy}

// partsResolver gives the prelude its parts, and nobody else. Their chunks have its name, so they are no script's either.
type partsResolver struct {
	others engine.Resolver // nil: nothing else is found
}

// Resolve implements engine.Resolver.
func (r partsResolver) Resolve(requirer, name string) (module.Source, error) {
	if code := preludeParts[name]; code != nil && requirer == engine.AroundChunk {
		return module.Source{ID: "=hukilau " + name, Chunk: engine.AroundChunk, Code: code}, nil
	}
	if r.others == nil {
		return module.Source{}, &luau.Error{Code: "not_found", Message: "require: no modules are available here"}
	}
	return r.others.Resolve(requirer, name)
}

// parts are what the prelude can make before the first call: what the script has no word for is made when it is first
// read, as an image with everything takes longer to reset.
var (
	parts = []string{
		"http", "log", "tools", "json", "env", "fs", "base64", "crypto", "sleep", "sdk",
		"generate", "generate_json", "generate_stream", "create_agent",
	}
	words = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// usedParts are those that the script has a word for.
func (r *runner) usedParts() []string {
	used := []string{}
	for _, word := range words.FindAllString(r.tool.Source, -1) {
		if slices.Contains(parts, word) && !slices.Contains(used, word) {
			used = append(used, word)
		}
	}
	return used
}

func (r *runner) aroundArgs(used []string) []any {
	dialect, folder := "invoke", ""
	if r.tool.Dialect == tooldef.Execute {
		dialect = "execute"
		if folder = path.Dir(strings.TrimPrefix(r.tool.Chunk, "@")); folder == "." {
			folder = ""
		}
	}
	return []any{dialect, used, folder, r.isolation() == engine.Shared}
}
