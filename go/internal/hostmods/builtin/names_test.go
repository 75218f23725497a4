package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/httpmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/musicmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/processmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/sdkmod"
	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
	"github.com/hukilau/hukilau/go/pkg/hostmod"
)

// What scripts find in `__native` has one maker for each name.
func TestNamesAreUnambiguous(t *testing.T) {
	client, err := httpmod.New(httpmod.Options{})
	require.NoError(t, err)
	from := map[string]string{}
	take := func(name, module string) {
		require.Empty(t, from[name], "%s is from %s and %s", name, from[name], module)
		from[name] = module
	}
	modules := []hostmod.Module{musicmod.New(nil), toolmod.Module{}, sdkmod.Module{}} // of some programs
	for _, m := range append(modules, Modules(Parts{
		HTTP: httpmod.NewModule(client), Environ: func() []string { return nil },
		Keys: kvmod.NewStore(kvmod.Options{}).Module(""), Process: &processmod.Module{},
	})...) {
		instance, err := m.NewInstance(nil)
		require.NoError(t, err)
		if len(instance.Exports()) > 0 {
			take(m.Name(), m.Name())
		}
		for name := range instance.Native() {
			take(name, m.Name())
		}
	}
	require.Equal(t, "log", from["log"])
	require.Equal(t, "fs", from["fs"])
	require.Equal(t, "music", from["music_play"])
}
