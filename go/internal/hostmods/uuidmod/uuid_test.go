package uuidmod_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/uuidmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
)

// The examples in the appendices of RFC 9562.
func TestExamples(t *testing.T) {
	vm := modtest.New(t, uuidmod.Module{}, uuidmod.Stub)
	for _, test := range []struct {
		text    string
		version float64
		time    any
	}{
		{"c232ab00-9414-11ec-b3c8-9f6bdeced846", 1, 1645557742.0},
		{"5df41881-3aed-3515-88a7-2f4a814cf09e", 3, nil},
		{"919108f7-52d1-4320-9bac-f847db4148a8", 4, nil},
		{"2ed6657d-e927-568b-95e1-2665a8aea6a2", 5, nil},
		{"1ec9414c-232a-6b00-b3c8-9f6bdeced846", 6, 1645557742.0},
		{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 7, 1645557742.0},
		{"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 8, nil},
	} {
		require.NoError(t, vm.State.SetGlobal("text", test.text))
		out := vm.Run(t, `
			local parts = __native.uuid.parse(string.upper(text))
			return parts.text, parts.version, parts.variant, parts.time, #parts.bytes`)
		require.Equal(t, []any{test.text, test.version, "rfc9562", test.time, 16.0}, out)
	}
}

func TestMade(t *testing.T) {
	vm := modtest.New(t, uuidmod.Module{}, uuidmod.Stub)
	before := float64(time.Now().UnixMilli()) / 1000
	out := vm.Run(t, `
		local uuid, seen, last = __native.uuid, {}, ""
		for _ = 1, 5000 do
			local four, seven = uuid.v4(), uuid.v7()
			assert(uuid.parse(four).version == 4 and uuid.parse(four).variant == "rfc9562")
			assert(uuid.parse(seven).version == 7 and uuid.parse(seven).variant == "rfc9562")
			assert(seven > last, "v7 sorts")
			assert(not seen[four] and not seen[seven])
			seen[four], seen[seven], last = true, true, seven
		end
		return uuid.parse(uuid.v7()).time`)
	require.InDelta(t, before, out[0], 30)
}

func TestOtherFormsAreRefused(t *testing.T) {
	vm := modtest.New(t, uuidmod.Module{}, uuidmod.Stub)
	for _, text := range []string{
		"", "919108f7", "919108f752d143209bacf847db4148a8", "{919108f7-52d1-4320-9bac-f847db4148a8}",
		"urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8", "919108f7-52d1-4320-9bac-f847db4148ag",
		"919108f7-52d1-4320-9bac_f847db4148a8", "919108f7-52d1-43209-bac-f847db4148a8", " 919108f7-52d1-4320-9bac-f847db4148a",
	} {
		require.NoError(t, vm.State.SetGlobal("text", text))
		out := vm.Run(t, `
			local ok, e = pcall(__native.uuid.parse, text)
			return ok, not ok and e.code, __native.uuid.validate(text)`)
		require.Equal(t, []any{false, "uuid", false}, out, text)
	}
	require.Equal(t, []any{true, "ncs"}, vm.Run(t, `
		return __native.uuid.validate("ffffffff-ffff-ffff-ffff-ffffffffffff"),
			__native.uuid.parse("00000000-0000-0000-0000-000000000000").variant`))
	require.Equal(t, "uuid.parse: argument 1 must be a string or a buffer, got number",
		vm.Run(t, "return pcall(__native.uuid.parse, 1)")[1].(map[string]any)["message"])
}
