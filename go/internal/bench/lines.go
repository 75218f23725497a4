package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/engine"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// lines are those of the budgets in the design, in its order.
func (b *bench) lines(withPeers bool) ([]line, error) {
	var out []line
	for _, part := range []func() ([]line, error){
		func() ([]line, error) { return b.scripts(withPeers) }, b.calls, b.invocations, b.crossings,
		func() ([]line, error) { return b.json(withPeers) }, b.asleep,
		func() ([]line, error) { return b.commands(withPeers) }, b.tools, b.gateway,
	} {
		lines, err := part()
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, nil
}

// scripts compares the speed of plain Luau.
func (b *bench) scripts(withPeers bool) ([]line, error) {
	paths, err := filepath.Glob("bench/scripts/*.luau")
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no bench/scripts/*.luau: run this in the root of the repository")
	}
	var out []line
	for _, mode := range []string{"interpreter", "native"} {
		if mode == "native" && !luau.NativeSupported() {
			continue
		}
		for _, path := range paths {
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			p, err := b.load("@"+path, string(source), mode == "native")
			if err == nil {
				err = p.repeated()
			}
			if err != nil {
				return nil, err
			}
			peers := b.ask("script "+mode+" "+path, "bare C++")
			if withPeers {
				peers = append(peers, official(mode, path, string(source)))
			}
			out = append(out, line{
				what: fmt.Sprintf("%s, %s", strings.TrimSuffix(filepath.Base(path), ".luau"), mode),
				unit: milliseconds, budget: 1.02, ratio: true,
				ours: each(cpu, p.times), peers: peers,
			})
		}
	}
	return out, nil
}

// official runs a script with the official command line, start and compiling included.
func official(mode, path, source string) peerMeasurement {
	whole := filepath.Join("build", "bench", "official-"+filepath.Base(path))
	text := "local run = (function()\n" + source + "\nend)()\nrun()\n"
	args := []string{"-O1", whole}
	if mode == "native" {
		args = []string{"-O2", "--codegen", whole}
	}
	return peerMeasurement{"official", func(time.Duration) (float64, error) {
		if err := os.WriteFile(whole, []byte(text), 0o644); err != nil {
			return 0, err
		}
		run := exec.Command(luauCLI, args...)
		err := run.Run()
		return float64(run.ProcessState.UserTime() + run.ProcessState.SystemTime()), err
	}}
}

// calls measures the ways into the host, amortised in a loop of the script.
func (b *bench) calls() ([]line, error) {
	var failed error
	loop := func(call string) measurement {
		p, err := b.load("=loop", "local host = __native return function(n) for i = 1, n do host."+call+" end end", false)
		if err != nil {
			failed = err
			return nil
		}
		return each(cpu, p.times)
	}
	lines := []line{
		{what: "host call, number -> number", unit: nanoseconds, budget: 90, ours: loop("add_one(i)"),
			peers: b.ask("callback", "bare C into Go", "bare C++", "gopher-lua", "mlua")},
		{what: "await of something already done", unit: nanoseconds, budget: 300, ours: loop("ready(i)"),
			peers: b.ask("ready", "mlua")},
		{what: "await, pending once: the next turn", unit: nanoseconds, budget: 600, ours: loop("sleep(0)"),
			peers: b.ask("yield", "bare C++", "mlua")},
		{what: "await, pending once: another goroutine", unit: nanoseconds, budget: 600, ours: loop("pending(i)"),
			peers: b.ask("yield", "mlua")},
	}
	return lines, failed
}

const tool = "function invoke(a) return { sum = a.x + a.y } end"

// invocations measures a small tool, from arguments in to result out.
func (b *bench) invocations() ([]line, error) {
	ctx, cancel := deadline()
	b.closed = append(b.closed, cancel)
	invoke := func(p *engine.Pool) error {
		var out struct{ Sum float64 }
		use := func(v luau.Values) error {
			all, err := v.All()
			if err == nil {
				out.Sum = all[0].(map[string]any)["sum"].(float64)
			}
			return err
		}
		if err := p.Invoke(ctx, use, map[string]any{"x": 1.0, "y": 2.0}); err != nil {
			return err
		}
		if out.Sum != 3 {
			return fmt.Errorf("the tool gave %v", out.Sum)
		}
		return nil
	}
	pool := func(isolation engine.Isolation) (*engine.Pool, error) {
		p, err := engine.NewPool(config(false), engine.Program{Chunk: "=tool", Source: tool},
			engine.PoolOptions{Isolation: isolation, Limits: limits})
		if err == nil {
			b.closed = append(b.closed, p.Close)
			err = invoke(p)
		}
		return p, err
	}
	pristine, err := pool(engine.Pristine)
	if err != nil {
		return nil, err
	}
	shared, err := pool(engine.Shared)
	if err != nil {
		return nil, err
	}
	repeat := func(p *engine.Pool) measurement {
		return each(cpu, func(n int) error {
			for range n {
				if err := invoke(p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	first := each(cpu, func(n int) error {
		for range n {
			p, err := pool(engine.Pristine)
			if err != nil {
				return err
			}
			p.Close()
			b.closed = b.closed[:len(b.closed)-1]
		}
		return nil
	})
	return []line{
		{what: "invocation in a pristine VM", unit: microseconds, budget: 8, ours: repeat(pristine),
			peers: b.ask("invoke", "bare C++", "gopher-lua", "mlua")},
		{what: "the same, first call of an empty pool", unit: microseconds, budget: 40, ours: first,
			peers: b.ask("invoke", "bare C++", "mlua")},
		{what: "warm invocation, shared VM", unit: microseconds, budget: 3, ours: repeat(shared)},
	}, nil
}
