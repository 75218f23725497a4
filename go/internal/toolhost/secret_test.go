package toolhost_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// What stands under names of secrets is not in the execution log, however deep; the tool and its caller see it.
func TestSecretArgumentsAreNotLogged(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	defer s.Close()
	var operator strings.Builder
	logger := slog.New(slog.NewTextHandler(&operator, nil))
	h := newHost(t, toolhost.Options{Store: s, Logger: logger}, tool(t, "login", `local log = require("log")
		function invoke(ctx, args)
			if args.fail then error("no user with " .. args.password) end
			log.info("logging in", { user = "ann", password = args.password })
			return { user = "ann", session = { token = "tok-1" }, api_key = args.api_key, sent = args.password }
		end`))
	const args = `{"api_key":"userkey1","nested":[{"token":"tt1"}],"password":"userpw999"}`
	result, failed := call(h, "login", args)
	require.Nil(t, failed)
	require.Equal(t, `{"api_key":"userkey1","sent":"userpw999","session":{"token":"tok-1"},"user":"ann"}`, result)
	require.Contains(t, operator.String(), "password=[redacted]")
	require.NotContains(t, operator.String(), "userpw999")
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, err := s.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, `{"api_key":"[redacted]","nested":[{"token":"[redacted]"}],"password":"[redacted]"}`, entries[0].Arguments.Text)
	require.Equal(t, `{"api_key":"[redacted]","sent":"[redacted]","session":{"token":"[redacted]"},"user":"ann"}`, entries[0].Result.Text)

	_, failed = call(h, "login", `{"password":"userpw999","fail":true}`)
	require.Contains(t, failed.Message, "no user with userpw999", "the caller sent it")
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, err = s.Log.List(t.Context(), store.Filter{Limit: 1})
	require.NoError(t, err)
	require.Contains(t, entries[0].Error.Message, "no user with [redacted]")
	require.NotContains(t, entries[0].Error.Detail+operator.String(), "userpw999")

	long := `{"password":"` + strings.Repeat("hush", 50_000) + `"}`
	_, failed = call(h, "login", long)
	require.Nil(t, failed)
	require.NoError(t, s.Log.Flush(t.Context()))
	entries, err = s.Log.List(t.Context(), store.Filter{Limit: 1})
	require.NoError(t, err)
	require.NotContains(t, entries[0].Arguments.Text, "hush")
}

// An approved call runs with the arguments that were sent, secrets too, and with no others.
func TestSecretArgumentsOfApprovedCalls(t *testing.T) {
	guarded := tool(t, "guarded", `function invoke(_, args) return args.password .. "!" end`)
	guarded.Approve = true
	h := newHost(t, toolhost.Options{}, []*tooldef.Tool{guarded}...)
	ask := func(args, approval string) (string, *toolhost.Error) {
		answer, failed := h.Call(context.Background(), toolhost.Request{Tool: "guarded", Args: []byte(args), Approval: approval, Caller: toolhost.Caller{Name: "x"}})
		if failed != nil {
			return "", failed
		}
		value, err := jsonvalue.Decode(answer.JSON, jsonvalue.Options{})
		require.NoError(t, err)
		return value.(string), nil
	}
	_, failed := ask(`{"password":"one"}`, "")
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	id := failed.ID
	require.Nil(t, h.DecideApproval(t.Context(), id, true, "op"))
	_, failed = ask(`{"password":"two"}`, id)
	require.Equal(t, toolhost.Permission, failed.Code)
	result, failed := ask(`{"password":"one"}`, id)
	require.Nil(t, failed)
	require.Equal(t, "one!", result)
}
