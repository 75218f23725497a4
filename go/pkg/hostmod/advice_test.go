package hostmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func TestAdvice(t *testing.T) {
	require.Equal(t, "(on the command line: --allow-net-private=10.0.0.1)", hostmod.Advice("", "net_private", "10.0.0.1", "10.0.0.1"))
	require.Equal(t, `([tools.policy.reads] in the configuration: read = ["my data"]; luau tool check --grant writes what it can see)`,
		hostmod.Advice("reads", "read", "my data", `"my data"`))
}
