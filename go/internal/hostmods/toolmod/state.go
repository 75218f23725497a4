package toolmod

import (
	"context"
	"encoding/json"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// state waits for work on the state; the results of work become the script's.
func (i *instance) state(c *luau.Call, work func(context.Context, State) ([]any, error)) error {
	h, err := i.host(c)
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) { return work(ctx, h.State()) })
}

// state_load: () -> {[string]: string}
func (i *instance) stateLoad(c *luau.Call) error {
	return i.state(c, func(ctx context.Context, s State) ([]any, error) {
		values, err := s.Load(ctx)
		texts := make(map[string]string, len(values))
		for key, value := range values {
			texts[key] = string(value)
		}
		return []any{texts}, err
	})
}

// state_commit: (changes: {[string]: string | false}) -> ()
func (i *instance) stateCommit(c *luau.Call) error {
	given, err := c.Map(0)
	if err != nil {
		return err
	}
	changes := make(map[string]json.RawMessage, len(given))
	for key, value := range given {
		changes[key] = nil
		if text, ok := value.(string); ok {
			changes[key] = json.RawMessage(text)
		}
	}
	return i.state(c, func(ctx context.Context, s State) ([]any, error) { return nil, s.Commit(ctx, changes) })
}

// state_get: (key: string) -> (string?, number)
func (i *instance) stateGet(c *luau.Call) error {
	key, err := c.Text(0)
	if err != nil {
		return err
	}
	return i.state(c, func(ctx context.Context, s State) ([]any, error) {
		value, version, err := s.Get(ctx, key)
		if value == nil {
			return []any{nil, version}, err
		}
		return []any{string(value), version}, err
	})
}

// state_swap: (key: string, version: number, value: string?) -> boolean
func (i *instance) stateSwap(c *luau.Call) error {
	key, err := c.Text(0)
	if err != nil {
		return err
	}
	version, err := c.Number(1)
	if err != nil {
		return err
	}
	var value json.RawMessage
	if !c.IsNil(2) {
		text, err := c.Text(2)
		if err != nil {
			return err
		}
		value = json.RawMessage(text)
	}
	return i.state(c, func(ctx context.Context, s State) ([]any, error) {
		done, err := s.Swap(ctx, key, int64(version), value)
		return []any{done}, err
	})
}
