package scriptmodel

import (
	"context"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// handover is the way of pieces from the script to Stream.
type handover chan piece

// piece is one, on its way. taken has room, so that nobody waits for a script that is gone.
type piece struct {
	value any
	taken chan struct{}
}

type handoverKey struct{}

// pieces is the host module behind the prelude.
type pieces struct{}

// Name implements hostmod.Module.
func (pieces) Name() string { return "model" }

// NewInstance implements hostmod.Module.
func (pieces) NewInstance(vm hostmod.VM) (hostmod.Instance, error) { return &instance{vm: vm}, nil }

type instance struct {
	hostmod.Plain
	vm hostmod.VM
}

// Native implements hostmod.Instance.
func (i *instance) Native() map[string]any {
	return map[string]any{"model_piece": luau.Func{Name: "model_piece", Do: i.piece, MayWait: true}}
}

// piece: (piece: any) -> ()
func (i *instance) piece(c *luau.Call) error {
	value, err := c.Value(0)
	if err != nil {
		return err
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		h, ok := ctx.Value(handoverKey{}).(handover)
		if !ok {
			return nil, &luau.Error{Code: luau.CodeInvalid, Message: "model_piece: nobody listens"}
		}
		p := piece{value, make(chan struct{}, 1)}
		select {
		case h <- p:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-p.taken:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}
