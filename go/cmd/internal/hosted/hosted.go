// Package hosted is the main of the programs that host tools: luau-host, which has all of it, and luau-gateway, which
// does without models.
package hosted

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/hukilau/hukilau/go/cmd/internal/programs"
	"github.com/hukilau/hukilau/go/internal/cli/exit"
	"github.com/hukilau/hukilau/go/internal/cli/program"
	"github.com/hukilau/hukilau/go/internal/cli/versions"
	"github.com/hukilau/hukilau/go/internal/gateway/supervise"
	"github.com/hukilau/hukilau/go/internal/gateway/supervise/supervisor"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostcli"
)

// Run runs the command line of the process and gives the exit code.
func Run(version, commit string) int {
	supervisor.Main(os.Args)  // this process may stand between another of ours and a program
	log.SetOutput(io.Discard) // libraries write there; what we have to say goes through slog
	versions.Build.Version, versions.Build.Commit = version, commit
	hostapp.StartChecker = startChecker
	if path, err := supervising(); err == nil {
		hostapp.StartServer = supervise.Starter(path)
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

// supervising is the executable to supervise programs with: luau-supervise, which starts in no time and takes little
// memory, where it stands beside this one, else this one.
func supervising() (string, error) {
	if path := programs.Beside("luau-supervise"); path != "" {
		return path, nil
	}
	return os.Executable()
}
