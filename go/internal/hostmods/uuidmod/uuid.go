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
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"v4":       luau.Func{Name: "uuid.v4", Do: made(i.random)},
		"v7":       luau.Func{Name: "uuid.v7", Do: made(i.sorted)},
		"parse":    luau.Func{Name: "uuid.parse", Do: parse, Pure: true},
		"validate": luau.Func{Name: "uuid.validate", Do: validate, Pure: true},
	}
}

func (i *instance) random() (uuid.UUID, error) { return uuid.NewRandomFromReader(hostmod.Random(i.vm)) }

// sorted makes a UUID of version 7. The library sees to it that each is greater than the one before, by a clock of
// its own: where the script's clock is another, the time within is written over.
func (i *instance) sorted() (uuid.UUID, error) {
	if hostmod.IsReal(i.vm) {
		return uuid.NewV7()
	}
	id, err := uuid.NewV7FromReader(hostmod.Random(i.vm))
	if err != nil {
		return id, err
	}
	now := hostmod.ReadClock(i.vm, time.Now()).UnixNano()
	ms, rest := uint64(now/int64(time.Millisecond)), now%int64(time.Millisecond)
	binary.BigEndian.PutUint32(id[:], uint32(ms>>16))
	binary.BigEndian.PutUint16(id[4:], uint16(ms))
	// 12 bits hold the fraction of a millisecond.
	binary.BigEndian.PutUint16(id[6:], 0x7000|uint16(rest*4096/int64(time.Millisecond)))
	return id, nil
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
