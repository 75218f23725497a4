package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/hukilau/hukilau/go/internal/gateway/openapi"
)

// manyFunctions is how many are searched.
const manyFunctions = 5000

// gatewayCatalogue is about finding functions, and what a model has to read before it can.
func (b *bench) gatewayCatalogue() ([]line, error) {
	many, err := b.openFaces("", upstreamFlags{functions: manyFunctions})
	if err != nil {
		return nil, err
	}
	asked := func(tool, args string) measurement {
		params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)
		return wall(many.stdio, func(p *pipes) error { _, err := p.call("tools/call", params); return err })
	}
	lines := []line{
		{what: "search_docs over 5,000 functions", unit: milliseconds, budget: 3, ours: asked("search_docs", `{"query":"add a comment to an order"}`)},
		{what: "get_function_docs of one function", unit: milliseconds, budget: 1, ours: asked("get_function_docs", `{"name":"upstream.create_issue"}`)},
	}
	github := filepath.Join("build", "deps", "openapi", "github.json")
	if _, err := os.Stat(github); err == nil {
		lines = append(lines, loading(github)...)
	}
	for _, count := range []int{10, 100, 1000} {
		more, err := b.listings(count)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// loading measures GitHub's own document, as a start that has never seen it and as every later one.
func loading(path string) []line {
	stored := map[string][]byte{}
	options := openapi.Options{
		ReadFile:   func(folder, name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) },
		CacheRead:  func(key string) []byte { return stored[key] },
		CacheWrite: func(key string, text []byte) { stored[key] = text },
	}
	load := func(time.Duration) (float64, error) {
		from := time.Now()
		api, err := openapi.Load(context.Background(), openapi.Config{Name: "github", Spec: path}, options)
		if err != nil {
			return 0, err
		}
		defer api.Close()
		if functions := len(api.Source().Functions); functions < 500 {
			return 0, fmt.Errorf("%s has %d functions", path, functions)
		}
		return float64(time.Since(from)), nil
	}
	cold := func(least time.Duration) (float64, error) {
		clear(stored)
		return load(least)
	}
	return []line{
		{what: "GitHub's OpenAPI document, cold", unit: milliseconds, budget: 1500, ours: cold},
		{what: "the same from the cache", unit: milliseconds, budget: 150, ours: load},
	}
}

// listings are what a client puts before its model: the tools of the upstream themselves, or those of the gateway.
func (b *bench) listings(count int) ([]line, error) {
	u := upstreamFlags{functions: count - 2} // with its own two
	raw := sized(func() (*pipes, error) { return b.openUpstream(u) })
	var lines []line
	for _, face := range []string{"sdk", "proxy"} {
		f, err := b.openFaces(fmt.Sprintf("[gateway]\nface = %q\n", face), u)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{
			what: fmt.Sprintf("tools/list, %d functions, face %s", count, face), unit: tokens, budget: 1200,
			ours: sized(f.stdio), peers: []peerMeasurement{{"raw", raw}},
		})
	}
	return lines, nil
}

// charactersAToken is about what tokenizers make of such texts.
const charactersAToken = 4

// sized is the size of a listing.
func sized(open func() (*pipes, error)) measurement {
	var known float64
	return func(time.Duration) (float64, error) {
		if known > 0 {
			return known, nil // it does not change
		}
		p, err := open()
		if err != nil {
			return 0, err
		}
		answer, err := p.call("tools/list", "{}")
		known = float64(utf8.RuneCount(answer)) / charactersAToken
		return known, err
	}
}
