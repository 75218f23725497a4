// Command luau-host is what `luau tool`, `luau serve` and so on become: the part of the command that needs servers,
// models or stores.
package main

import (
	"os"

	"github.com/hukilau/hukilau/go/cmd/internal/hosted"
	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostapp/providers"
)

// Set by the linker.
var version, commit string

func main() { os.Exit(run()) }

func run() int {
	hostapp.StartPlayer = startPlayer
	hostapp.Providers, hostapp.NewExporter = providers.Models, providers.Exporter
	return hosted.Run(version, commit)
}
