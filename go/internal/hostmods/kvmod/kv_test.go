package kvmod_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/hostmods/kvmod"
	"github.com/hukilau/hukilau/go/internal/modtest"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func start(t *testing.T, store *kvmod.Store, namespace string) *modtest.VM {
	return modtest.New(t, store.Module(namespace), kvmod.Stub)
}

func TestValues(t *testing.T) {
	vm := start(t, kvmod.NewStore(kvmod.Options{}), "")
	out := vm.Run(t, `
		local kv = __native.kv
		local list = {1, {deep = {true, "a\0b"}}, buffer.fromstring("raw")}
		kv.set("list", list)
		list[2].deep[1] = "changed after"
		local copy = kv.get("list")
		copy[1] = "changed too"
		kv.set("empty", {}) kv.set("no", false) kv.set("big", 9007199254740993i) kv.set("k\0ey", 1.5)
		return kv.get("list"), kv.get("empty"), kv.get("no"), kv.get("big"), kv.get("k\0ey"), kv.get("none")`)
	require.Equal(t, []any{
		[]any{1.0, map[string]any{"deep": []any{true, "a\x00b"}}, []byte("raw")},
		map[string]any{}, false, luau.Integer(9007199254740993), 1.5, nil,
	}, out)
}

func TestAddDeleteClear(t *testing.T) {
	vm := start(t, kvmod.NewStore(kvmod.Options{}), "")
	out := vm.Run(t, `
		local kv = __native.kv
		local first, second = kv.add("k", 1), kv.add("k", 2)
		local value, there, gone = kv.get("k"), kv.delete("k"), kv.delete("k")
		for _, key in {"b/2", "a", "b/1", "c"} do kv.set(key, key) end
		local all, some = kv.keys(), kv.keys("b/")
		return first, second, value, there, gone, all, some, kv.clear("b/"), kv.keys(), kv.clear(), kv.clear()`)
	require.Equal(t, []any{
		true, false, 1.0, true, false, []any{"a", "b/1", "b/2", "c"}, []any{"b/1", "b/2"}, 2.0, []any{"a", "c"}, 2.0, 0.0,
	}, out)
}

func TestTimeToLive(t *testing.T) {
	now := newClock()
	vm := start(t, kvmod.NewStore(kvmod.Options{Now: now.read}), "")
	vm.Run(t, `
		local kv = __native.kv
		kv.set("short", 1, {ttl = 0.5}) kv.set("long", 1, {ttl = 60}) kv.set("good", 1)
		kv.set("endless", 1, {ttl = 1e300})
		kv.set("longer", 1, {ttl = 1}) kv.set("longer", 2, {ttl = 90})
		kv.set("kept", 1, {ttl = 1}) kv.set("kept", 2)
		kv.increment("count", 1, {ttl = 10})`)
	const keys = "return __native.kv.keys()"
	now.pass(499 * time.Millisecond)
	require.Equal(t, []any{"count", "endless", "good", "kept", "long", "longer", "short"}, vm.Run(t, keys)[0])
	now.pass(time.Millisecond)
	require.Equal(t, []any{"count", "endless", "good", "kept", "long", "longer"}, vm.Run(t, keys)[0])
	require.Equal(t, []any{nil, true}, vm.Run(t, `return __native.kv.get("short"), __native.kv.add("short", 2, {ttl = 1})`))
	now.pass(5 * time.Second)
	require.Equal(t, []any{2.0}, vm.Run(t, `return __native.kv.increment("count", 1, {ttl = 100})`), "the key's time stays")
	now.pass(5 * time.Second)
	require.Equal(t, []any{1.0}, vm.Run(t, `return __native.kv.increment("count", 1, {ttl = 100})`))
	now.pass(1000 * time.Hour)
	require.Equal(t, []any{"endless", "good", "kept"}, vm.Run(t, keys)[0])
}

func TestLimits(t *testing.T) {
	now := newClock()
	store := kvmod.NewStore(kvmod.Options{MaxEntries: 3, MaxBytes: 2000, TotalBytes: 3000, Now: now.read})
	a, b := start(t, store, "a"), start(t, store, "b")
	fails := func(vm *modtest.VM, source, message string) {
		t.Helper()
		out := vm.Run(t, "return pcall(function() return __native.kv."+source+" end)")
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, "limit", e["code"])
		require.Contains(t, e["message"], message)
	}
	a.Run(t, `for i = 1, 3 do __native.kv.set("k" .. i, i, {ttl = 9}) end`)
	fails(a, `set("k4", 4)`, "kv.set: the store holds 3 keys, the most that it may; delete keys or give them a ttl")
	fails(a, `increment("k4")`, "kv.increment: the store holds 3 keys")
	a.Run(t, `__native.kv.set("k3", 33) __native.kv.delete("k2") __native.kv.set("k4", 4)`)
	fails(a, `set("k4", string.rep("x", 2000))`, "kv.set: the store may hold 2000 bytes and has ")
	require.Equal(t, []any{4.0}, a.Run(t, `return __native.kv.get("k4")`), "what does not fit changes nothing")
	a.Run(t, `__native.kv.set("k4", string.rep("x", 1200), {ttl = 9})`)
	fails(b, `set("big", string.rep("x", 1500))`, "kv.set: the stores of this process together may hold 3000 bytes")
	now.pass(10 * time.Second)
	b.Run(t, `__native.kv.set("big", string.rep("x", 1500))`) // what is over elsewhere makes room
	require.Equal(t, []any{[]any{"k3"}}, a.Run(t, "return __native.kv.keys()"))
}

// The accounts of bytes are exact, whatever was done: else a store fills up for ever, or never.
func TestTheAccountsAreExact(t *testing.T) {
	const most = 20_000
	for name, options := range map[string]kvmod.Options{
		"of a namespace": {MaxEntries: 50, MaxBytes: most},
		"of all":         {MaxEntries: 50, TotalBytes: most},
	} {
		now := newClock()
		options.Now = now.read
		vm := start(t, kvmod.NewStore(options), "")
		vm.Run(t, `__native.kv.set("a", 1)`) // an empty namespace would begin anew
		for range 200 {
			vm.Run(t, `
				local kv = __native.kv
				for i = 1, 30 do
					local key = "k" .. math.random(60)
					pcall(kv.set, key, string.rep("x", math.random(900)), math.random() < 0.5 and {ttl = math.random(5)} or nil)
					if math.random() < 0.2 then kv.delete("k" .. math.random(60)) end
					pcall(kv.increment, "n" .. math.random(5))
				end`)
			now.pass(700 * time.Millisecond)
		}
		vm.Run(t, `__native.kv.clear("k") __native.kv.clear("n")`)
		// What is left of it holds one more text, and not a byte more: an entry takes 160 bytes, a value 16.
		const longest = most - (160 + 1 + 16) - (160 + 3 + 16)
		require.NoError(t, vm.State.SetGlobal("longest", float64(longest)))
		out := vm.Run(t, `local set = __native.kv.set
			return pcall(set, "all", string.rep("x", longest + 1)), (pcall(set, "all", string.rep("x", longest)))`)
		require.Equal(t, false, out[0], "%s: it is below zero, so that too much fits", name)
		require.Equal(t, true, out[len(out)-1], "%s: something that is gone still counts", name)
	}
}

func TestNamespacesAndSharing(t *testing.T) {
	store := kvmod.NewStore(kvmod.Options{})
	one, same, other := start(t, store, "a"), start(t, store, "a"), start(t, store, "b")
	one.Run(t, `__native.kv.set("k", {1, 2})`)
	require.Equal(t, []any{[]any{1.0, 2.0}}, same.Run(t, `return __native.kv.get("k")`))
	require.Equal(t, []any{nil, 0.0}, other.Run(t, `return __native.kv.get("k"), __native.kv.clear()`))
	require.Equal(t, []any{1.0}, same.Run(t, `return __native.kv.clear()`))
	require.Equal(t, []any{nil}, one.Run(t, `return __native.kv.get("k")`))
}

func TestManyAtOnce(t *testing.T) {
	store := kvmod.NewStore(kvmod.Options{})
	const workers, times = 8, 500
	vms := make([]*modtest.VM, workers)
	for i := range vms {
		vms[i] = start(t, store, "")
	}
	var wg sync.WaitGroup
	wins := make([]any, workers)
	for i, vm := range vms {
		wg.Go(func() {
			out := vm.Run(t, fmt.Sprintf(`
				local won
				won = __native.kv.add("lock", %d)
				for i = 1, %d do
					__native.kv.increment("n")
					__native.kv.set("list", {i, i, i}, {ttl = 60})
					local list = __native.kv.get("list")
					assert(list[1] == list[3])
				end
				return won`, i, times))
			wins[i] = out[0]
		})
	}
	wg.Wait()
	require.Equal(t, []any{float64(workers * times)}, vms[0].Run(t, `return __native.kv.get("n")`))
	won := 0
	for _, w := range wins {
		if w == true {
			won++
		}
	}
	require.Equal(t, 1, won)
}

func TestErrors(t *testing.T) {
	vm := start(t, kvmod.NewStore(kvmod.Options{}), "")
	vm.Run(t, `__native.kv.set("text", "5")`)
	for source, want := range map[string]string{
		`set("k", nil)`:                     "kv.set: argument 2 must not be nil; kv.delete removes a key",
		`set("k", print)`:                   "kv.set: argument 2: a function cannot be kept outside of the script",
		`set("k", {a = {1, print}})`:        "kv.set: argument 2: .a[2]: a function cannot be kept outside of the script",
		`set("k", {1, x = 2})`:              "kv.set: argument 2: a table that is neither an array nor has string keys only cannot be kept outside of the script",
		`set("", 1)`:                        "kv.set: argument 1 must be a key of 1 to 4096 bytes, got 0",
		`get(string.rep("k", 4097))`:        "kv.get: argument 1 must be a key of 1 to 4096 bytes, got 4097",
		`get(5)`:                            "kv.get: argument 1 must be a string, got number",
		`set("k", 1, {ttl = 0})`:            "kv.set: argument 3: ttl must be a number of seconds, more than 0",
		`add("k", 1, {ttl = 0/0})`:          "kv.add: argument 3: ttl must be a number of seconds, more than 0",
		`increment("k", 1, {ttl = -1})`:     "kv.increment: argument 3: ttl must be a number of seconds, more than 0",
		`set("k", 1, {tll = 5})`:            "kv.set: argument 3: there is no option tll; there is ttl",
		`increment("text")`:                 "kv.increment: the key holds a string, not a number",
		`increment("k", 1/0)`:               "kv.increment: argument 2 must be a finite number",
		`keys(5)`:                           "kv.keys: argument 1 must be a string, got number",
		`clear({})`:                         "kv.clear: argument 1 must be a string, got table",
		`set("k", coroutine.create(print))`: "kv.set: argument 2: a coroutine cannot be kept outside of the script",
	} {
		out := vm.Run(t, "return pcall(function() return __native.kv."+source+" end)")
		require.Equal(t, false, out[0], source)
		e := out[1].(map[string]any)
		require.Equal(t, want, e["message"], source)
		require.Equal(t, "invalid_argument", e["code"], source)
	}
	out := vm.Run(t, `local t = {} t.t = t return pcall(__native.kv.set, "k", t)`)
	require.Equal(t, false, out[0])
	require.Equal(t, []any{[]any{"text"}}, vm.Run(t, "return __native.kv.keys()"))
}
