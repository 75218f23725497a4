// Command luau-gateway is what `luau gateway` becomes: luau-host without the SDKs of models and traces, which a gateway
// has no use for. It starts in about half of the time, and takes about half of the memory.
package main

import (
	"os"

	"github.com/hukilau/hukilau/go/cmd/internal/hosted"
)

// Set by the linker.
var version, commit string

func main() { os.Exit(hosted.Run(version, commit)) }
