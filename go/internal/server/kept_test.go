package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// A caller whose answers fill its share hears when to come again; calls that keep nothing go on, those of others too.
func TestNoRoomToKeepMore(t *testing.T) {
	s := openStore(t, store.Options{Path: store.Memory, MaxKept: 9600})
	f := start(t, server.Options{Token: token, OperatorToken: operator}, toolhost.Options{Store: s},
		tool(t, "large", `return string.rep("x", 1000)`), tool(t, "larger", `return string.rep("x", 2000)`))
	mine, theirs := bearer+token, bearer+operator
	require.Equal(t, 200, f.do("POST", "/tools/large", "", mine, "Idempotency-Key: 1").status)
	require.Equal(t, 200, f.do("POST", "/tools/larger", "", mine, "Idempotency-Key: 2").status, "it is answered, and not kept")
	a := f.do("POST", "/tools/larger", "", mine, "Idempotency-Key: 2")
	require.Equal(t, 409, a.status)
	require.Contains(t, a.body, "there was no room")
	for _, header := range []string{"Idempotency-Key: 3", "Prefer: respond-async"} {
		a := f.do("POST", "/tools/large", "", mine, header)
		require.Equal(t, 503, a.status, a.body)
		require.Equal(t, "busy", a.code(t))
		require.Equal(t, "60", a.header.Get("Retry-After"))
		require.Contains(t, a.body, "forgotten after 24 hours")
	}
	require.Equal(t, 200, f.do("POST", "/tools/large", "", mine, "Idempotency-Key: 1").status)
	require.Equal(t, 200, f.do("POST", "/tools/large", "", mine).status)
	require.Equal(t, 202, f.do("POST", "/tools/larger", "", theirs, "Prefer: respond-async").status)
}
