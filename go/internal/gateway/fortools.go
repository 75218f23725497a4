package gateway

import (
	"context"
	"slices"
	"strings"

	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// ForTool is what the script of a tool finds behind `sdk`: the sources that it is granted. As long as the gateway is
// young it waits for them.
func (g *Gateway) ForTool(calling toolhost.Calling) sdkmod.Host {
	may := calling.Tool().Permissions.Servers
	if may == nil {
		may = []string{}
	}
	if len(may) > 0 {
		text := strings.Join(may, " ")
		if slices.Contains(may, "*") {
			text = ""
		}
		g.awaitSources(context.Background(), text) // it has an end of its own
	}
	return &run{gateway: g, view: g.view(), calling: calling, client: clientOf(calling.Caller()), may: may}
}
