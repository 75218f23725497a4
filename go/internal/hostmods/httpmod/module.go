package httpmod

import (
	"context"
	_ "embed"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// Stub is the typed description of the module for scripts.
//
//go:embed http.d.luau
var Stub string

// Module is the HTTP module: one client under one policy. Any goroutine may use it.
type Module struct{ client *Client }

var _ hostmod.Module = (*Module)(nil)

// NewModule makes the module over a client.
func NewModule(client *Client) *Module { return &Module{client} }

// Name implements hostmod.Module.
func (m *Module) Name() string { return "http" }

// NewInstance implements hostmod.Module.
func (m *Module) NewInstance(vm hostmod.VM) (hostmod.Instance, error) {
	return &instance{client: m.client, vm: vm}, nil
}

type instance struct {
	client  *Client
	vm      hostmod.VM
	streams streams
}

func (i *instance) Exports() map[string]any {
	return map[string]any{
		"request": luau.Func{Name: "http.request", Do: i.requestWith, MayWait: true},
		"open":    luau.Func{Name: "http.open", Do: i.open, MayWait: true},
		"read":    luau.Func{Name: "http.read", Do: i.read, MayWait: true},
		"close":   luau.Func{Name: "http.close", Do: i.close},
	}
}

func (i *instance) Native() map[string]any {
	return map[string]any{"http_request": luau.Func{Name: "http_request", Do: i.request, MayWait: true}}
}

func (i *instance) EndRun() { i.streams.closeAll() }

// request: (url: string, method: string?, headers: {[string]: string | {string}}?, body: (string | buffer)?) -> Response
func (i *instance) request(c *luau.Call) error {
	r := &Request{Memory: vmMemory{i.vm}}
	var err error
	if r.URL, err = c.Text(0); err != nil {
		return err
	}
	if r.Method, err = c.TextOpt(1, ""); err != nil {
		return err
	}
	headers, err := c.MapOpt(2)
	if err != nil {
		return err
	}
	if r.Header, err = headerArgument(c, 2, headers); err != nil {
		return err
	}
	if r.Body, err = c.BytesOpt(3); err != nil {
		return err
	}
	return i.send(c, r)
}

// requestWith: (options: HttpRequest) -> HttpResponse
func (i *instance) requestWith(c *luau.Call) error {
	r, err := i.requestArgument(c)
	if err != nil {
		return err
	}
	return i.send(c, r)
}

func (i *instance) send(c *luau.Call, r *Request) error {
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		response, err := i.client.Do(ctx, r)
		if err != nil {
			return nil, err
		}
		defer response.Release()
		table := head(response.Status, response.Header, response.URL)
		table["body"] = string(response.Body)
		return []any{table}, nil
	})
}

// vmMemory charges bodies to the VM's memory limit.
type vmMemory struct{ vm hostmod.VM }

func (a vmMemory) Charge(n int64) error {
	if !a.vm.Charge(n) {
		return hostmod.NoMemory("http")
	}
	return nil
}

func (a vmMemory) Uncharge(n int64) { a.vm.Uncharge(n) }
