package httpmod

import (
	"context"
	_ "embed"
	"net/http"
	"sort"
	"strings"

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
	client *Client
	vm     hostmod.VM
}

func (i *instance) Exports() map[string]any { return nil }

func (i *instance) Native() map[string]any {
	return map[string]any{"http_request": luau.Func{Name: "http_request", Do: i.request, MayWait: true}}
}

func (i *instance) EndRun() {}

// request: (url: string, method: string?, headers: {[string]: string | {string}}?, body: (string | buffer)?) -> Response
func (i *instance) request(c *luau.Call) error {
	r := &Request{Memory: vmMemory{i.vm}}
	var err error
	if r.URL, err = c.Text(0); err != nil {
		return err
	}
	if !c.IsNil(1) {
		if r.Method, err = c.Text(1); err != nil {
			return err
		}
	}
	if !c.IsNil(2) {
		if r.Header, err = headerArgument(c, 2); err != nil {
			return err
		}
	}
	if !c.IsNil(3) {
		if r.Body, err = c.Bytes(3); err != nil {
			return err
		}
	}
	return i.vm.Await(c, func(ctx context.Context) ([]any, error) {
		response, err := i.client.Do(ctx, r)
		if err != nil {
			return nil, err
		}
		defer response.Release()
		return []any{responseTable(response)}, nil
	})
}

// vmMemory charges bodies to the VM's memory limit.
type vmMemory struct{ vm hostmod.VM }

func (a vmMemory) Charge(n int64) error {
	if !a.vm.Charge(n) {
		return &luau.Error{Code: luau.CodeMemory, Message: "the memory limit was reached"}
	}
	return nil
}

func (a vmMemory) Uncharge(n int64) { a.vm.Uncharge(n) }

func headerArgument(c *luau.Call, i int) (http.Header, error) {
	m, err := c.Map(i)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	header := make(http.Header, len(m))
	for _, name := range names {
		values, ok := m[name].([]any)
		if !ok {
			values = []any{m[name]}
		}
		for _, v := range values {
			text, ok := v.(string)
			if n, isNumber := v.(float64); isNumber {
				text, ok = luau.FormatNumber(n), true
			}
			if !ok {
				return nil, c.Argument(i, "header "+name+" must be a string or an array of strings")
			}
			header[name] = append(header[name], text)
		}
	}
	return header, nil
}

// responseTable is what scripts see. headers has one text for each name: values joined with ", ",
// but for Set-Cookie, where that would be wrong, the first. header_values has all, always arrays.
func responseTable(r *Response) map[string]any {
	first := make(luau.Folded, len(r.Header))
	all := make(luau.Folded, len(r.Header))
	for name, values := range r.Header {
		lower := strings.ToLower(name)
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		all[lower] = list
		first[lower] = strings.Join(values, ", ")
		if lower == "set-cookie" {
			first[lower] = values[0]
		}
	}
	return map[string]any{
		"status": r.Status, "headers": first, "header_values": all, "body": string(r.Body), "url": r.URL,
	}
}
