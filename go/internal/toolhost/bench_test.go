package toolhost_test

import (
	"context"
	"testing"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func BenchmarkCall(b *testing.B) {
	h := newHost(b, toolhost.Options{}, tool(b, "echo", "function invoke(ctx, args) return { message = args.message } end"))
	req := toolhost.Request{Tool: "echo", Args: []byte(`{"message":"hello, world"}`), Caller: toolhost.Caller{Name: "bench", Face: "http"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, failed := h.Call(context.Background(), req); failed != nil {
			b.Fatal(failed)
		}
	}
}
