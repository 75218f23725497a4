package openapi

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCacheGivesTheSame(t *testing.T) {
	for name, text := range map[string]string{"shop": shop, "secured": secured, "oauth": strings.Replace(oauthDocument, "TOKENS", "https://t.example.com", 1), "swagger": swaggerDocument} {
		cache := memoryCache{}
		through := func(_ *Config, o *Options) {
			o.CacheRead, o.CacheWrite = cache.options().CacheRead, cache.options().CacheWrite
		}
		first := spec(t, nil, text, through)
		require.Len(t, cache, 1, name)
		for _, stored := range cache {
			require.NotEmpty(t, stored)
		}
		again := spec(t, nil, text, through)
		require.NotSame(t, first.model, again.model)
		require.Equal(t, first.model, again.model, name)
		require.Equal(t, first.Source(), again.Source(), name)
		require.Equal(t, first.Warnings(), again.Warnings(), name)
		require.Len(t, cache, 1)
	}
}

func TestTheCacheIsOfOneText(t *testing.T) {
	texts := maps.Clone(parts)
	cache := memoryCache{}
	reads := 0
	through := func(_ *Config, o *Options) {
		read := o.ReadFile
		o.ReadFile = func(folder, name string) ([]byte, error) {
			reads++
			return read(folder, name)
		}
		o.CacheRead, o.CacheWrite = cache.options().CacheRead, cache.options().CacheWrite
	}
	idType := func() any {
		return spec(t, nil, parted, files(t, texts), through, func(c *Config, _ *Options) { c.BaseURL = "http://127.0.0.1" }).Source().Defs["Id"].(table)["type"]
	}
	require.Equal(t, "integer", idType())
	require.Equal(t, "integer", idType())
	require.Equal(t, 10, reads, "all documents are compared")

	texts["api/schemas/ids.yaml"] = "Id: {type: string}\n"
	require.Equal(t, "string", idType(), "a part has changed")
	require.Len(t, cache, 1)
	texts["api/spec.yaml"] = strings.Replace(parted, "title: Shop", "title: Store", 1)
	require.Equal(t, "string", idType())
	require.Len(t, cache, 2)

	delete(texts, "api/schemas/ids.yaml")
	require.NotContains(t, spec(t, nil, parted, files(t, texts), through).Source().Defs, "Id")
}

// What a cache gives is believed only where it is whole.
func TestACacheThatIsBroken(t *testing.T) {
	cache := memoryCache{}
	through := func(_ *Config, o *Options) {
		o.CacheRead, o.CacheWrite = cache.options().CacheRead, cache.options().CacheWrite
	}
	want := spec(t, nil, shop, through).Source()
	key := sortedKeys(cache)[0]
	whole := cache[key]
	head, schemas, _ := bytes.Cut(whole, []byte("\n"))
	for name, text := range map[string]string{
		"cut":               string(whole[:len(whole)-2]),
		"cut head":          string(head[:len(head)-2]),
		"nothing":           "",
		"only a head":       string(head) + "\n",
		"another format":    strings.Replace(string(whole), `"Format":1`, `"Format":0`, 1),
		"no schemas":        string(head) + "\n[]",
		"one schema less":   string(head) + "\n" + string(schemas[:bytes.LastIndexByte(schemas, ',')]) + "]",
		"another parameter": strings.Replace(string(whole), `"Parameters":[0]`, `"Parameters":[7]`, 1),
		"null operations":   strings.Replace(string(whole), `"Operations":[`, `"Operations":[null,`, 1),
		"another body":      strings.Replace(string(whole), `"Body":0`, `"Body":1`, 1),
		"another result":    strings.Replace(string(whole), `"Result":-1`, `"Result":0`, 1),
		"null bodies":       strings.Replace(string(whole), `"Bodies":[`, `"Bodies":[null,`, 1),
		"null parameters":   strings.Replace(string(whole), `"Parameters":[`, `"Parameters":[null,`, 1),
	} {
		require.NotEqual(t, string(whole), text, name)
		cache[key] = []byte(text)
		require.Equal(t, want, spec(t, nil, shop, through).Source(), name)
		require.Equal(t, string(whole), string(cache[key]), "%s: it is written anew", name)
	}
}

// Where a document is decides what relative addresses in it mean.
func TestTheCacheKnowsThePlace(t *testing.T) {
	cache := memoryCache{}
	text := strings.Replace(shop, "http://127.0.0.1", "/v1", 1)
	for _, host := range []string{"https://a.example.com", "https://b.example.com"} {
		a := spec(t, nil, text, func(c *Config, o *Options) {
			c.Spec, o.HTTP = host+"/spec.yaml", roundTrip(serveText(text))
			o.CacheRead, o.CacheWrite = cache.options().CacheRead, cache.options().CacheWrite
		})
		u, err := a.serverOf(a.operations["listPets"])
		require.NoError(t, err)
		require.Equal(t, host+"/v1", u.String())
	}
}
