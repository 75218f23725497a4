// Command luau runs Luau scripts.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hukilau/hukilau/go/internal/cli"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/hostedcmd"
	"github.com/hukilau/hukilau/go/internal/cli/runcmd"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
)

// Set by the linker.
var version, commit string

func main() { os.Exit(run()) }

func run() int {
	if len(os.Args) > 1 && hostedcmd.Has(os.Args[1]) {
		_ = handOver(os.Args[1:]) // at once; where it cannot be, the command below says why
	}
	// net/http writes there about servers that send more than they said, past all that a user set.
	log.SetOutput(io.Discard)
	versions.Build.Version, versions.Build.Commit = version, commit
	hostedcmd.HandOver = handOver
	runcmd.WithSources = func(args []string) error { return handOver(append([]string{"gateway"}, args...)) }
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	interrupts := &exit.Interrupts{}
	ctx = exit.WithInterrupts(ctx, interrupts)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for s := <-signals; s == os.Interrupt && interrupts.Interrupt(); {
			s = <-signals
		}
		cancel(exit.ErrInterrupted)
		<-signals // a second one does not wait
		os.Exit(exit.Interrupted)
	}()
	return cli.Main(ctx, os.Args[1:], cli.Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
}
