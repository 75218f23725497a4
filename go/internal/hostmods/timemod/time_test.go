package timemod_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/timemod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

func TestSleep(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	vm.Run(t, "__native.sleep(1.5) __native.sleep(0) __native.sleep(math.huge)")
	require.Equal(t, []time.Duration{1500 * time.Microsecond, 0, hostmod.Forever}, vm.Slept)
}

func TestSleepRefusesWhatIsNoTime(t *testing.T) {
	vm := modtest.New(t, timemod.Module{}, timemod.Stub)
	for source, want := range map[string]string{
		"return pcall(__native.sleep, -1)":  "sleep: argument 1 must be a number of milliseconds, 0 or more",
		"return pcall(__native.sleep, 0/0)": "sleep: argument 1 must be a number of milliseconds, 0 or more",
		"return pcall(__native.sleep)":      "sleep: argument 1 must be a number, got no value",
	} {
		out := vm.Run(t, source)
		require.Equal(t, want, out[1].(map[string]any)["message"])
	}
	require.Empty(t, vm.Slept)
}
