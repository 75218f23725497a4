package toolhost_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// approvalOf is the id under which a call waits.
func approvalOf(t *testing.T, failed *toolhost.Error) string {
	t.Helper()
	require.NotNil(t, failed)
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	id, _ := failed.Data.(map[string]any)["approval"].(string)
	require.NotEmpty(t, id)
	return id
}

func TestSameCallUsesItsApproval(t *testing.T) {
	made := tool(t, "pays", `function invoke(ctx, args) return args.n end`)
	made.Approve = true
	h := newHost(t, toolhost.Options{}, made)
	ctx := context.Background()
	pay := func(caller, args string) (*toolhost.Answer, *toolhost.Error) {
		return h.Call(ctx, toolhost.Request{Tool: "pays", Args: []byte(args), Caller: toolhost.Caller{Name: caller}, SameApproval: true})
	}
	_, failed := pay("ada", `{"n":1}`)
	id := approvalOf(t, failed)
	_, failed = pay("ada", `{ "n": 1.0 }`)
	require.Equal(t, id, approvalOf(t, failed), "the same call waits under the same approval")
	require.Equal(t, map[string]any{"n": 1.0}, failed.Data.(map[string]any)["arguments"])
	for _, other := range []struct{ caller, args string }{{"ada", `{"n":2}`}, {"eve", `{"n":1}`}, {"", `{"n":1}`}} {
		_, failed = pay(other.caller, other.args)
		require.NotEqual(t, id, approvalOf(t, failed))
	}
	_, failed = h.Call(ctx, toolhost.Request{Tool: "pays", Args: []byte(`{"n":1}`), Caller: toolhost.Caller{Name: "ada"}})
	require.NotEqual(t, id, approvalOf(t, failed), "who does not say so asks anew")

	require.Nil(t, h.DecideApproval(ctx, id, true, "operator"))
	_, failed = pay("eve", `{"n":1}`)
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	answer, failed := pay("ada", `{"n":1}`)
	require.Nil(t, failed)
	require.Equal(t, "1", string(answer.JSON))
	_, failed = pay("ada", `{"n":1}`)
	require.NotEqual(t, id, approvalOf(t, failed), "an approval is used once")
}

func TestDecideApproval(t *testing.T) {
	made := tool(t, "pays", `function invoke(ctx, args) return "paid" end`)
	made.Approve = true
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	h := newHost(t, toolhost.Options{Store: s}, made)
	ctx := context.Background()
	_, failed := call(h, "pays", "{}")
	id := approvalOf(t, failed)
	require.Nil(t, h.DecideApproval(ctx, id, false, "mcp user"))
	kept, err := s.Approvals.Get(ctx, id)
	require.NoError(t, err)
	require.Equal(t, store.Denied, kept.State)
	require.Equal(t, "mcp user", kept.DecidedBy)

	failed = h.DecideApproval(ctx, id, true, "mcp user")
	require.Equal(t, toolhost.Permission, failed.Code, "what was denied stays so")
	require.Equal(t, toolhost.NotFound, h.DecideApproval(ctx, "nothing", true, "mcp user").Code)
	without := toolhost.New(toolhost.Options{})
	defer without.Close()
	require.Equal(t, toolhost.NotFound, without.DecideApproval(ctx, id, true, "mcp user").Code)
}

// Where an approved call runs on its own, who makes it again gets its answer, once.
func TestSameCallGetsWhatTheApprovedOneGave(t *testing.T) {
	made := tool(t, "pays", `function invoke(ctx, args) return args.n end`)
	made.Approve = true
	h := newHost(t, toolhost.Options{}, made)
	ctx := context.Background()
	pay := func() (*toolhost.Answer, *toolhost.Error) {
		return h.Call(ctx, toolhost.Request{Tool: "pays", Args: []byte(`{"n":1}`), Caller: toolhost.Caller{Name: "ada"}, SameApproval: true})
	}
	_, failed := pay()
	id := approvalOf(t, failed)
	require.Nil(t, h.DecideApproval(ctx, id, true, "operator"))
	ran, failed := h.RunApproved(ctx, id, nil)
	require.Nil(t, failed)
	answer, failed := pay()
	require.Nil(t, failed)
	require.Equal(t, id, answer.ID)
	require.Equal(t, string(ran.JSON), string(answer.JSON))
	_, failed = pay()
	second := approvalOf(t, failed)
	require.NotEqual(t, id, second)

	require.Nil(t, h.DecideApproval(ctx, second, false, "operator"))
	_, failed = pay()
	require.Equal(t, toolhost.Permission, failed.Code)
	require.Equal(t, "denied", failed.Detail)
	_, failed = pay()
	require.NotEqual(t, second, approvalOf(t, failed), "asked anew")
}
