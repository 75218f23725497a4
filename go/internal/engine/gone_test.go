package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// losing is a host module that counts what scripts lost of what it made.
type losing struct {
	hostmod.Plain
	lost int
}

func (*losing) Name() string { return "losing" }

func (i *losing) NewInstance(hostmod.VM) (hostmod.Instance, error) { return i, nil }

func (i *losing) Native() map[string]any {
	made := luau.Func{Name: "made", Do: func(*luau.Call) error { return nil }, Gone: func() { i.lost++ }}
	return map[string]any{
		"make": luau.Func{Name: "make", Do: func(c *luau.Call) error { return c.Return(made) }},
		"lost": luau.Func{Name: "lost", Do: func(c *luau.Call) error { return c.Return(i.lost) }},
	}
}

// What a script lost does not stay open until the run ends.
func TestModulesHearOfWhatIsLostWhenAScriptWaits(t *testing.T) {
	w := newWorld(t, withModule(&losing{}))
	require.Equal(t, "0\n1\n", w.prints(`
		local make, lost, sleep = __native.make, __native.lost, __native.sleep
		make()
		for i = 1, 1000 do local _ = table.create(10000, i) end -- which Luau collects
		print(lost())
		sleep(1)
		print(lost())`))
}
