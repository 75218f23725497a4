// Command luau-supervise stands between a gateway and the program of each MCP server that it starts, and sees to it
// that nothing of the program is left when the gateway ends, however that ends. It is small, as there is one of it for
// each server. It is not for people.
package main

import (
	"fmt"
	"os"

	"github.com/hukilau/hukilau/go/internal/gateway/supervise/supervisor"
)

func main() {
	supervisor.Main(os.Args)
	fmt.Fprintln(os.Stderr, "luau-supervise: programs of hukilau start this one; `luau gateway` is for people")
	os.Exit(2)
}
