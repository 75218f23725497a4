package openapi

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/schema"
)

// documents is where tools/fetch-openapi-documents puts documents of others.
const documents = "../../../../build/deps/openapi"

func published(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(documents, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s: run tools/fetch-openapi-documents build/deps/openapi", path)
	}
	return path
}

func readFile(folder, name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) }

// memoryCache is a cache in a map.
type memoryCache map[string][]byte

func (c memoryCache) options() Options {
	return Options{
		ReadFile:   readFile,
		CacheRead:  func(key string) []byte { return c[key] },
		CacheWrite: func(key string, text []byte) { c[key] = bytes.Clone(text) },
	}
}

// operationsOf counts the operations of a document in the simplest way.
func operationsOf(t testing.TB, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	tree, err := parse(text)
	require.NoError(t, err)
	n := 0
	for _, item := range tree.(map[string]any)["paths"].(map[string]any) {
		for key := range item.(map[string]any) {
			switch key {
			case "get", "put", "post", "delete", "options", "head", "patch", "trace":
				n++
			}
		}
	}
	return n
}

// The documents of @readme/oas-examples show each feature of OpenAPI; all that have operations load whole.
func TestExampleDocumentsLoad(t *testing.T) {
	published(t, "3.0")
	list, err := filepath.Glob(filepath.Join(documents, "?.?", "*", "*.*"))
	require.NoError(t, err)
	require.Greater(t, len(list), 100)
	for _, path := range list {
		a, err := Load(t.Context(), Config{Name: "x", Spec: path, BaseURL: "https://api.example.com"}, Options{ReadFile: readFile})
		if strings.HasPrefix(filepath.Base(path), "webhooks.") {
			require.ErrorContains(t, err, "it has no operations")
			continue
		}
		require.NoError(t, err)
		source := a.Source()
		require.GreaterOrEqual(t, len(source.Functions), operationsOf(t, path), path)
		require.Empty(t, a.Warnings(), path)
		requireWhole(t, source)
		requireCompiles(t, source)
	}
}

func TestPublishedDocumentsLoad(t *testing.T) {
	for _, name := range []string{"3.0/json/petstore.json", "3.1/json/petstore.json", "2.0/json/petstore.json", "3.1/yaml/petstore.yaml", "github.json"} {
		t.Run(name, func(t *testing.T) {
			path := published(t, name)
			cache := memoryCache{}
			config := Config{Name: "x", Spec: path, BaseURL: "https://api.example.com"}
			start := time.Now()
			a, err := Load(t.Context(), config, cache.options())
			require.NoError(t, err)
			t.Logf("loaded in %s", time.Since(start))
			source := a.Source()
			require.Len(t, source.Functions, operationsOf(t, path))
			require.Empty(t, a.Warnings())
			start = time.Now()
			again, err := Load(t.Context(), config, cache.options())
			require.NoError(t, err)
			t.Logf("from the cache in %s", time.Since(start))
			require.Equal(t, source, again.Source())
			requireWhole(t, source)
			requireCompiles(t, source)
		})
	}
}

// requireWhole holds that every reference leads to a definition.
func requireWhole(t *testing.T, source *catalog.Source) {
	t.Helper()
	check := func(object map[string]any) {
		reference, there := object["$ref"]
		if name, _ := refName(object); there && source.Defs[name] == nil {
			t.Errorf("%v leads nowhere", reference)
		}
	}
	for _, s := range source.Defs {
		eachSchema(s, check)
	}
	for _, f := range source.Functions {
		if f.Params != nil {
			eachSchema(f.Params, check)
		}
		eachSchema(f.Body, check)
		eachSchema(f.Result, check)
	}
}

// requireCompiles holds that the schemas can be checked with.
func requireCompiles(t *testing.T, source *catalog.Source) {
	t.Helper()
	for i, f := range source.Functions {
		if len(source.Functions) > 200 && i%10 != 0 {
			continue // each takes a millisecond
		}
		for _, s := range []any{f.Params, f.Body, f.Result} {
			object, ok := s.(map[string]any)
			if !ok || object == nil {
				continue
			}
			object = maps.Clone(object)
			object["$defs"] = reachable(source.Defs, s)
			_, err := schema.Compile(object, f.Name)
			require.NoError(t, err)
		}
	}
}

func reachable(defs map[string]any, roots ...any) map[string]any {
	used := map[string]any{}
	for len(roots) > 0 {
		s := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		eachSchema(s, func(object map[string]any) {
			name, ok := refName(object)
			if _, known := used[name]; ok && !known {
				used[name] = defs[name]
				roots = append(roots, defs[name])
			}
		})
	}
	return used
}

func BenchmarkLoadGitHub(b *testing.B) {
	path := published(b, "github.json")
	config := Config{Name: "github", Spec: path}
	cache := memoryCache{}
	run := func(b *testing.B, options Options) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(b.Context(), config, options); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("cold", func(b *testing.B) { run(b, Options{ReadFile: readFile}) })
	b.Run("cold-and-store", func(b *testing.B) {
		run(b, Options{ReadFile: readFile, CacheRead: func(string) []byte { return nil }, CacheWrite: cache.options().CacheWrite})
	})
	b.Run("cached", func(b *testing.B) { run(b, cache.options()) })
	b.Run("kept", func(b *testing.B) {
		before := heap()
		a, err := Load(b.Context(), config, cache.options())
		if err != nil {
			b.Fatal(err)
		}
		source := a.Source()
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		for _, text := range cache {
			b.ReportMetric(float64(len(text))/(1<<20), "MiB-stored")
		}
		runtime.KeepAlive(source)
	})
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
