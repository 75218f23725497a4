package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The command line as its users start it, and what other command lines take.
const (
	runner  = "build/bin/luau"
	luauCLI = "build/peers/luau"
	lune    = "build/peers/lune/bin/lune"
)

// commands measures whole processes.
func (b *bench) commands(withPeers bool) ([]line, error) {
	info, err := os.Stat(runner)
	if err != nil {
		return nil, err
	}
	start := line{
		what: "luau hello.luau, whole process, wall", unit: milliseconds, budget: 6,
		ours:  process(runner, "examples/hello/main.luau"),
		peers: []peerMeasurement{{"/bin/true", process("/bin/true")}},
	}
	if withPeers {
		// They have other host functions, so they get a script without any.
		start.peers = append(start.peers,
			peerMeasurement{"official luau", process(luauCLI, "bench/hello.luau")},
			peerMeasurement{"lune", process(lune, "run", "bench/hello.luau")})
	}
	sdk := line{
		what: `luau -e 'require("haivivi")', whole process, wall`, unit: milliseconds,
		ours:  process(runner, "-e", `require("haivivi")`),
		peers: []peerMeasurement{{"luau -e ''", process(runner, "-e", "")}},
	}
	size := line{what: "size of build/bin/luau, stripped", unit: megabytes,
		ours: func(time.Duration) (float64, error) { return float64(info.Size()), nil }}
	out := []line{start, sdk}
	for _, part := range []func() ([]line, error){b.testFiles, b.requests} {
		lines, err := part()
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return append(out, size), nil
}

// process is the median of several starts: a single one says little.
func process(path string, args ...string) measurement {
	return func(least time.Duration) (float64, error) {
		var times []float64
		for from := time.Now(); len(times) == 0 || time.Since(from) < 5*least; {
			started := time.Now()
			if err := exec.Command(path, args...).Run(); err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
			times = append(times, float64(time.Since(started)))
		}
		return median(times), nil
	}
}

// used is the processor time of one process from start to end.
func used(path string, args ...string) (time.Duration, error) {
	cmd := exec.Command(path, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", path, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// repeatedBy measures an operation that a command does as often as its last argument says, without its start.
func repeatedBy(path string, args ...string) measurement {
	n := 1
	return func(least time.Duration) (float64, error) {
		start, err := used(path, append(args, "0")...)
		for ; err == nil; n *= 2 {
			var all time.Duration
			all, err = used(path, append(args, fmt.Sprint(n))...)
			if took := all - start; err == nil && took >= least {
				return max(1, float64(took)) / float64(n), nil
			}
		}
		return 0, err
	}
}

const manyFiles = 200

// testFiles measures `luau test` on small files, half of them plain scripts.
func (b *bench) testFiles() ([]line, error) {
	folder := filepath.Join("build", "bench", "tests")
	if err := writeTests(folder); err != nil {
		return nil, err
	}
	return []line{{
		what: "luau test on 200 small files, a core", unit: perMinute(manyFiles), budget: 1000,
		ours: func(time.Duration) (float64, error) {
			took, err := used(runner, "test", folder)
			return float64(took), err
		},
	}}, nil
}

func writeTests(folder string) error {
	const plain = "local n = %d\nlocal sum = 0\nfor i = 1, n do\n\tsum += i\nend\nassert(sum == n * (n + 1) / 2)\n"
	const suite = "local test = require(\"test\")\n\ntest.describe(\"numbers %d\", function()\n\ttest.it(\"add\", function()\n" +
		"\t\ttest.expect(1 + 1):to_equal(2)\n\tend)\n\ttest.it(\"concatenate\", function()\n" +
		"\t\ttest.expect(\"a\" .. 1):to_equal(\"a1\")\n\tend)\nend)\n"
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for i := range manyFiles {
		text := plain
		if i%2 == 1 {
			text = suite
		}
		path := filepath.Join(folder, fmt.Sprintf("test_%03d.luau", i))
		if err := os.WriteFile(path, fmt.Appendf(nil, text, i), 0o644); err != nil {
			return err
		}
	}
	return nil
}
