// Package uuidmod gives scripts UUIDs of RFC 9562: random ones, ones that sort by time, and the parts
// of any.
package uuidmod

import (
	_ "embed"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed uuid.d.luau
var Stub string

// Module is the uuid module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "uuid" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(hostmod.VM) (hostmod.Instance, error) { return instance{}, nil }

type instance struct{ hostmod.Plain }

func (instance) Exports() map[string]any {
	return map[string]any{
		"v4":       luau.Func{Name: "uuid.v4", Do: made(uuid.NewRandom)},
		"v7":       luau.Func{Name: "uuid.v7", Do: made(uuid.NewV7)},
		"parse":    luau.Func{Name: "uuid.parse", Do: parse, Pure: true},
		"validate": luau.Func{Name: "uuid.validate", Do: validate, Pure: true},
	}
}

func made(generate func() (uuid.UUID, error)) func(*luau.Call) error {
	return func(c *luau.Call) error {
		id, err := generate()
		if err != nil {
			return err
		}
		return c.ReturnString(id.String())
	}
}

// textLength is that of the one form taken here; the library takes several more, which a validation
// that guards a path or a key must not let through.
const textLength = 36

func read(c *luau.Call) (uuid.UUID, bool, error) {
	data, err := c.Bytes(0)
	if err != nil || len(data) != textLength {
		return uuid.UUID{}, false, err
	}
	id, err := uuid.ParseBytes(data)
	return id, err == nil, nil
}

// validate: (text: string | buffer) -> boolean
func validate(c *luau.Call) error {
	_, ok, err := read(c)
	if err != nil {
		return err
	}
	return c.Return(ok)
}

// parse: (text: string | buffer) -> Parts
func parse(c *luau.Call) error {
	id, ok, err := read(c)
	if err != nil {
		return err
	}
	if !ok {
		return &luau.Error{Code: CodeUUID,
			Message: "uuid.parse: not a UUID (32 hex digits in groups of 8-4-4-4-12)"}
	}
	parts := map[string]any{
		"text": id.String(), "bytes": string(id[:]), "version": int(id.Version()), "variant": variants[id.Variant()],
	}
	if id.Variant() == uuid.RFC4122 {
		if seconds, ok := timeOf(id); ok {
			parts["time"] = seconds
		}
	}
	return c.Return(parts)
}

// CodeUUID is the code of the error for a text that is no UUID.
const CodeUUID = "uuid"

var variants = map[uuid.Variant]string{
	uuid.RFC4122: "rfc9562", uuid.Reserved: "ncs", uuid.Microsoft: "microsoft", uuid.Future: "future", uuid.Invalid: "ncs",
}

// timeOf is the time within a UUID in seconds since 1970.
func timeOf(id uuid.UUID) (float64, bool) {
	switch id.Version() {
	case 1:
		return sinceEpoch(int64(id.Time())), true
	case 6: // the library reads it in the order of version 1
		ticks := int64(binary.BigEndian.Uint32(id[:]))<<28 | int64(binary.BigEndian.Uint16(id[4:]))<<12 |
			int64(binary.BigEndian.Uint16(id[6:])&0xfff)
		return sinceEpoch(ticks), true
	case 7:
		ms := int64(binary.BigEndian.Uint32(id[:]))<<16 | int64(binary.BigEndian.Uint16(id[4:]))
		return float64(ms) / 1000, true
	}
	return 0, false
}

// sinceEpoch turns ticks of 100 ns since 1582, as versions 1 and 6 count, into seconds since 1970.
func sinceEpoch(ticks int64) float64 {
	return hostmod.Seconds(time.Unix(uuid.Time(ticks).UnixTime()))
}
