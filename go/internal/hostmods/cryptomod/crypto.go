// Package cryptomod gives scripts hashes, message authentication, random bytes and a comparison that
// takes the same time for any two texts. It does not encrypt.
package cryptomod

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	_ "embed"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed crypto.d.luau
var Stub string

// Module is the crypto module. Its zero value is ready, and any goroutine may use it.
type Module struct{}

var _ hostmod.Module = Module{}

// Name implements hostmod.Module.
func (Module) Name() string { return "crypto" }

// NewInstance implements hostmod.Module.
func (Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

// algorithms by the names that scripts use.
var algorithms = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
}

func (i *instance) Exports() map[string]any {
	exports := map[string]any{
		"hmac":         luau.Func{Name: "crypto.hmac", Do: i.hmac, MayWait: true, Pure: true},
		"random_bytes": luau.Func{Name: "crypto.random_bytes", Do: i.randomBytes},
		"equal":        luau.Func{Name: "crypto.equal", Do: equal, Pure: true},
	}
	for name, make := range algorithms {
		exports[name] = luau.Func{Name: "crypto." + name, Do: func(c *luau.Call) error { return i.sum(c, make(), 0) },
			MayWait: true, Pure: true}
	}
	return exports
}

// hmac: (algorithm: string, key: string | buffer, data: string | buffer, format: string?) -> string
func (i *instance) hmac(c *luau.Call) error {
	name, err := c.Text(0)
	if err != nil {
		return err
	}
	algorithm, ok := algorithms[name]
	if !ok {
		return c.Argument(0, fmt.Sprintf(`must be "md5", "sha1", "sha256" or "sha512", got %.40q`, name))
	}
	key, err := c.Bytes(1)
	if err != nil {
		return err
	}
	return i.sum(c, hmac.New(algorithm, key), 2)
}

// Data from longData on is hashed away from the VM's goroutine, chunk by chunk, so that a deadline
// ends it.
const (
	longData = 4 << 20
	chunk    = 1 << 20
)

// sum hashes argument `at`; the one behind it names the format.
func (i *instance) sum(c *luau.Call, h hash.Hash, at int) error {
	data, err := c.Bytes(at)
	if err != nil {
		return err
	}
	raw, err := isRaw(c, at+1, "hex")
	if err != nil {
		return err
	}
	if len(data) < longData { // most data: a third faster than by way of Compute
		h.Write(data)
		return c.ReturnString(formatted(h.Sum(nil), raw))
	}
	return hostmod.Compute(i.vm, c, true, func(ctx context.Context, room *hostmod.Room) ([]any, error) {
		if err := room.Take(int64(len(data))); err != nil {
			return nil, err
		}
		for len(data) > 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := min(chunk, len(data))
			h.Write(data[:n])
			data = data[n:]
		}
		return []any{formatted(h.Sum(nil), raw)}, nil
	})
}

func formatted(data []byte, raw bool) string {
	if raw {
		return string(data)
	}
	return hex.EncodeToString(data)
}

func isRaw(c *luau.Call, i int, missing string) (bool, error) {
	format, err := c.TextOpt(i, missing)
	if err != nil {
		return false, err
	}
	if format != "hex" && format != "raw" {
		return false, c.Argument(i, fmt.Sprintf(`must be "hex" or "raw", got %.40q`, format))
	}
	return format == "raw", nil
}

// maxRandom is the most bytes of one call. Whoever needs more wants a generator, not keys.
const maxRandom = 64 << 10

// randomBytes: (count: number, format: string?) -> string
func (i *instance) randomBytes(c *luau.Call) error {
	n, err := c.Int(0)
	if err != nil {
		return err
	}
	if n < 0 || n > maxRandom {
		return c.Argument(0, fmt.Sprintf("must be a number of bytes from 0 to %d, got %d", maxRandom, n))
	}
	raw, err := isRaw(c, 1, "raw")
	if err != nil {
		return err
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(hostmod.Random(i.vm), data); err != nil {
		return err
	}
	return c.ReturnString(formatted(data, raw))
}

// equal: (a: string | buffer, b: string | buffer) -> boolean
func equal(c *luau.Call) error {
	a, err := c.Bytes(0)
	if err != nil {
		return err
	}
	b, err := c.Bytes(1)
	if err != nil {
		return err
	}
	return c.Return(subtle.ConstantTimeCompare(a, b) == 1)
}
