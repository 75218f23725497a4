// Command bench prints one table: what Hukilau's budgets are about, measured, each line beside its
// peer in the same run. `make bench` builds what it needs and runs it in the root of the
// repository. It reaches Hukilau as the runner does, with deadline, memory limit and limits of host
// calls on. Nothing fails because of a figure.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

func main() {
	once := flag.Bool("once", false, "measure each once, quickly: shows that everything runs")
	rounds := flag.Int("rounds", 15, "how often each line is measured")
	withPeers := flag.Bool("peers", false, "also the peers that make bench-peers built")
	only := flag.String("only", "", "only lines that contain this text")
	asleep := flag.Int("asleep", 0, "internal: let so many scripts sleep, print bytes each and threads")
	serving := flag.Bool("serve", false, "internal: answer HTTP requests until standard input ends")
	bare := flag.String("bare", "", "internal: be a bare server of this kind, http or mcp")
	url := flag.String("requests", "", "internal: send many requests there at once")
	upstream := flag.Bool("upstream", false, "internal: be a server of MCP on standard streams")
	functions := flag.Int("functions", 0, "internal: so many functions of it, beside its own")
	late := flag.Duration("late", 0, "internal: how long it takes to start")
	flag.Parse()
	var err error
	switch {
	case *asleep > 0:
		err = sleepers(*asleep)
	case *serving:
		err = serve()
	case *bare != "":
		err = serveBare(*bare)
	case *upstream:
		err = serveUpstream(upstreamFlags{*functions, *late})
	case *url != "":
		err = requests(*url)
	default:
		err = table(*once, *withPeers, *rounds, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func table(once, withPeers bool, rounds int, only string) error {
	b := &bench{rounds: rounds, least: 20 * time.Millisecond}
	if once {
		b.rounds, b.least = 1, 0
	}
	defer b.close()
	b.peers = append(b.peers,
		&peer{name: "bare C++", path: "build/bench/bare"},
		&peer{name: "bare C into Go", path: "build/bench/bare-go"})
	if withPeers {
		b.peers = append(b.peers,
			&peer{name: "gopher-lua", path: "build/peers/gopherlua"},
			&peer{name: "mlua", path: "build/peers/cargo/release/bench-mlua"})
	}
	lines, err := b.lines(withPeers)
	if err != nil {
		return err
	}
	printHead()
	for _, l := range lines {
		if !strings.Contains(l.what, only) {
			continue
		}
		r, err := b.measure(l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.what, err)
		}
		fmt.Println(r)
	}
	return nil
}

func printHead() {
	fmt.Printf("%s, %s, %d cores, %s/%s, %s\n", time.Now().Format("2006-01-02"), cpuModel(), runtime.NumCPU(),
		runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Println("Medians of turns beside the peers; of scripts the least. CPU time of the process, but for what says wall and all about the gateway.")
	fmt.Println("A token is taken for 4 characters.")
	fmt.Println()
	fmt.Println(row("what", "ours", "budget", "", "peers"))
	fmt.Println(strings.Repeat("-", 124))
}

func row(what, ours, budget, verdict, peers string) string {
	return strings.TrimRight(fmt.Sprintf("%-56s %11s  %-10s %-5s %s", what, ours, budget, verdict, peers), " ")
}

// cpuModel is the processor's name as Linux has it.
func cpuModel() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
