package regexmod_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/regexmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

// Matches cost more than the text they are in: they are counted while they are found.
func TestMatchesAreCharged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute under a sanitizer")
	}
	vm := modtest.New(t, &regexmod.Module{}, regexmod.Stub)
	for _, call := range []string{
		`r.find_all, "", string.rep("x", 2000000)`, `r.split, "", string.rep("x", 4000000)`,
		`r.replace, "x", string.rep("x", 100000), string.rep("y", 100000)`,
	} {
		out := vm.Run(t, "local r = __native.regex return pcall("+call+")")
		require.Equal(t, false, out[0], call)
		require.Equal(t, "memory", out[1].(map[string]any)["code"], call)
	}
	// What was charged is given back.
	require.Equal(t, []any{1000.0}, vm.Run(t, `return #__native.regex.find_all("x", string.rep("x", 1000))`))
}
