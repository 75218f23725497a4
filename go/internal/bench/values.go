package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// crossings measures values on their way between Luau and Go, the call that carries them included.
func (b *bench) crossings() ([]line, error) {
	state, err := luau.New(luau.Options{MemoryLimit: memoryLimit})
	if err != nil {
		return nil, err
	}
	ctx, cancel := deadline()
	b.closed = append(b.closed, func() { cancel(); _ = state.Close() })
	function := func(source string) (*luau.Function, error) {
		out, err := state.Do(ctx, "=values", source)
		if err != nil {
			return nil, err
		}
		return out[0].(*luau.Function), nil
	}
	giveMap, err := function("local t = {} for i = 1, 1000 do t['key' .. i] = i end return function() return t end")
	if err != nil {
		return nil, err
	}
	giveList, err := function("local t = {} for i = 1, 1000 do t[i] = i + 0.5 end return function() return t end")
	if err != nil {
		return nil, err
	}
	take, err := function("return function(t) return t ~= nil end")
	if err != nil {
		return nil, err
	}
	object, list, floats := map[string]any{}, make([]any, 1000), make([]float64, 1000)
	for i := range 1000 {
		object[fmt.Sprintf("key%d", i+1)] = float64(i + 1)
		list[i], floats[i] = float64(i)+0.5, float64(i)+0.5
	}
	out := func(f *luau.Function) measurement { return calling(func() error { return fetch(ctx, f) }) }
	in := func(v any) measurement {
		return calling(func() error { _, err := take.Call(ctx, v); return err })
	}
	var numbers []float64
	return []line{
		{what: "map of 1,000 string keys, Luau -> Go any", unit: microseconds, budget: 110, ours: out(giveMap),
			peers: b.ask("map_out", "gopher-lua", "mlua")},
		{what: "map of 1,000 string keys, Go any -> Luau", unit: microseconds, budget: 80, ours: in(object),
			peers: b.ask("map_in", "gopher-lua", "mlua")},
		{what: "array of 1,000 numbers, Luau -> Go any", unit: microseconds, budget: 15, ours: out(giveList),
			peers: b.ask("array_out", "gopher-lua", "mlua")},
		{what: "array of 1,000 numbers, Go any -> Luau", unit: microseconds, budget: 15, ours: in(list),
			peers: b.ask("array_in", "gopher-lua", "mlua")},
		{what: "array of 1,000 numbers, Luau -> Go []float64", unit: microseconds, budget: 4,
			ours: calling(func() error { return giveList.CallInto(ctx, []any{&numbers}) })},
		{what: "array of 1,000 numbers, Go []float64 -> Luau", unit: microseconds, budget: 4, ours: in(floats)},
	}, nil
}

func fetch(ctx context.Context, f *luau.Function) error {
	_, err := f.Call(ctx)
	return err
}

func calling(op func() error) measurement {
	return each(cpu, func(n int) error {
		for range n {
			if err := op(); err != nil {
				return err
			}
		}
		return nil
	})
}

const jsonLoops = `local text = ...
local document = __native.json_decode(text)
local work = {
	decode = function() __native.json_decode(text) end,
	encode = function() __native.json_encode(document) end,
}
return function(what, n) for i = 1, n do work[what]() end end`

// json measures decoding and encoding of one mixed document inside a script.
func (b *bench) json(withPeers bool) ([]line, error) {
	text := document(1_000_000)
	path := filepath.Join("build", "bench", "document.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, err
	}
	p, err := b.load("=json", jsonLoops, false, text)
	if err != nil {
		return nil, err
	}
	work := func(what string) measurement { return each(cpu, func(n int) error { return p.run(what, n) }) }
	lines := []line{
		{what: "json.decode of 1 MB in a script", unit: throughput(len(text)), budget: 180, ours: work("decode"),
			peers: b.ask("decode "+path, "mlua")},
		{what: "json.encode of 1 MB in a script", unit: throughput(len(text)), budget: 200, ours: work("encode"),
			peers: b.ask("encode "+path, "mlua")},
	}
	if withPeers {
		for i, what := range []string{"decode", "encode"} {
			lines[i].peers = append(lines[i].peers,
				peerMeasurement{"lune", repeatedBy(lune, "run", "bench/peers/lune/json.luau", what, path)})
		}
	}
	return lines, nil
}

// document is a list of records of every kind of value, of about so many bytes.
func document(size int) string {
	var out strings.Builder
	out.WriteByte('[')
	for i := 0; out.Len() < size; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, `{"id":%d,"name":"Catch %d of the day","price":%.2f,"ratio":%.15g,"sold":%t,"note":null,`+
			`"tags":["reef","deep \"blue\"","mahi\u2011mahi"],"place":{"lat":%.6f,"lon":%.6f,"depth":%d},`+
			`"history":[%d,%d,%d,%d]}`,
			i, i, float64(i)*1.25, 1/float64(i+3), i%3 == 0, 19+float64(i%1000)/1000, -155-float64(i%777)/1000, i%300,
			i, i*2, i*3, i*5)
	}
	out.WriteByte(']')
	return out.String()
}
