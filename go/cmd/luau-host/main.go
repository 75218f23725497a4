// Command luau-host is what `luau tool`, `luau serve` and so on become: the part of the command that needs servers,
// models or stores.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/gateway/supervise"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli"
)

// Set by the linker.
var version, commit string

func main() { os.Exit(run()) }

func run() int {
	supervise.Main(os.Args)   // this process may stand between another of ours and a program
	log.SetOutput(io.Discard) // libraries write there; what we have to say goes through slog
	versions.Build.Version, versions.Build.Commit = version, commit
	hostapp.StartPlayer, hostapp.StartChecker = startPlayer, startChecker
	if self, err := os.Executable(); err == nil {
		hostapp.StartServer = supervise.Starter(self)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		cancel(exit.ErrInterrupted)
		<-signals // a second one does not wait
		os.Exit(exit.Interrupted)
	}()
	return hostcli.Main(ctx, os.Args[1:], program.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
