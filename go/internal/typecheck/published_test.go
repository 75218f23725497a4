package typecheck_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
	"github.com/hukilau/hukilau/go/internal/gateway/openapi"
	"github.com/hukilau/hukilau/go/internal/typecheck"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The types of all operations of documents that others wrote load, and a call of each is a call that passes.
func TestTypesOfPublishedDocuments(t *testing.T) {
	c, _ := checker(t, typecheck.Options{})
	for _, name := range []string{"3.0/json/petstore.json", "3.0/json/petstore-expanded.json", "3.0/json/uspto.json", "3.0/json/link-example.json",
		"3.1/json/petstore.json", "2.0/json/petstore.json", "github.json"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("../../../build/deps/openapi", name)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("no %s: run tools/fetch-openapi-documents build/deps/openapi", path)
			}
			read := func(folder, name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) }
			api, err := openapi.Load(t.Context(), openapi.Config{Name: "x", Spec: path, BaseURL: "https://api.example.com"}, openapi.Options{ReadFile: read})
			require.NoError(t, err)
			made := catalog.New(nil, []*catalog.Source{api.Source()})
			definitions := typecheck.NewDefinitions(luautype.Definitions(made, luautype.DefinitionOptions{}))
			var calls strings.Builder
			for _, f := range made.Sources()[0].Callables {
				docs := luautype.Docs(f)
				_, err := luau.Compile(f.FullName(), docs, luau.CompileOptions{})
				require.NoError(t, err, docs)
				if _, call, found := strings.Cut(docs, "\n-- Example: "); found {
					call, _, _ = strings.Cut(call, "\n")
					calls.WriteString(call + "\n")
				}
			}
			for _, file := range luautype.Stubs(made, luautype.DefinitionOptions{}) {
				_, err := luau.Compile("stub", strings.ReplaceAll(file, "\ndeclare ", "\nlocal "), luau.CompileOptions{})
				require.NoError(t, err)
			}
			found, err := c.Check(context.Background(), typecheck.Request{Source: calls.String(), Definitions: definitions})
			require.NoError(t, err)
			lines := strings.Split(calls.String(), "\n")
			for _, f := range found {
				t.Errorf("%s: %s", f.String(), lines[f.Line-1])
			}
			t.Logf("%d examples", len(lines)-1)
		})
	}
}
