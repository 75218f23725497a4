package gateway

import (
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// ForTool is what the script of a tool finds behind `sdk`: the sources that it is granted.
func (g *Gateway) ForTool(calling toolhost.Calling) sdkmod.Host {
	may := calling.Tool().Permissions.Servers
	if may == nil {
		may = []string{}
	}
	return &run{gateway: g, view: g.view(), calling: calling, client: clientOf(calling.Caller()), may: may}
}
