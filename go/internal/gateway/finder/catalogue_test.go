package finder

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/stretchr/testify/require"
)

// catalogue reads testdata/catalogue.txt: `# source kind`, then `name | description | parameters | tag`.
func catalogue(t testing.TB) *catalog.Catalog {
	t.Helper()
	text, err := os.ReadFile("testdata/catalogue.txt")
	require.NoError(t, err)
	var sources []*catalog.Source
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if head, found := strings.CutPrefix(line, "# "); found {
			words := strings.Fields(head)
			sources = append(sources, &catalog.Source{Name: words[0], Kind: catalog.Kind(words[1])})
			continue
		}
		s := sources[len(sources)-1]
		s.Functions = append(s.Functions, function(strings.Split(line, "|"), s))
	}
	return catalog.New(nil, sources)
}

func function(parts []string, s *catalog.Source) catalog.Function {
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	properties, required := map[string]any{}, []any{}
	for _, name := range strings.Fields(parts[2]) {
		name, needed := strings.CutSuffix(name, "!")
		properties[name] = map[string]any{"type": "string"}
		if needed {
			required = append(required, name)
		}
	}
	f := catalog.Function{Name: parts[0], Description: parts[1],
		Params: map[string]any{"type": "object", "properties": properties, "required": required}}
	if len(parts) > 3 {
		f.Tags = parts[3:]
	}
	if s.Kind == catalog.OpenAPI {
		f.Method, f.Path = "POST", fmt.Sprint("/", len(s.Functions))
	}
	return f
}

// many is 5,000 functions in 50 sources.
func many() *catalog.Catalog {
	verbs := strings.Fields("create list get update delete search merge upload archive restore")
	things := strings.Fields("issue user file branch comment invoice payment event message channel")
	var sources []*catalog.Source
	for i := range 50 {
		s := &catalog.Source{Name: fmt.Sprintf("server%d", i), Kind: catalog.MCP}
		for _, verb := range verbs {
			for _, thing := range things {
				s.Functions = append(s.Functions, function([]string{
					fmt.Sprintf("%s_%s", verb, thing),
					fmt.Sprintf("Use this to %s the %s%d of a workspace, with its owner, labels and history, as often as it is needed", verb, thing, i),
					fmt.Sprintf("owner! %s_id! name%d page cursor", thing, i),
				}, s))
			}
		}
		sources = append(sources, s)
	}
	return catalog.New(nil, sources)
}
