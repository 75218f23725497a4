package toolhost_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// approveHost serves a tool that counts its runs and needs an approval.
func approveHost(t *testing.T, o toolhost.Options) (*toolhost.Host, *store.Store, *tooldef.Tool) {
	s, err := store.Open(context.Background(), store.Options{Path: store.Memory})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	o.Store = s
	pay := tool(t, "pay", `function invoke(ctx, args) ctx.state.n = (ctx.state.n or 0) + 1 return { n = ctx.state.n, sum = args.sum, face = ctx.call.face } end`)
	pay.Approve, pay.Rate = true, tooldef.Rate{Calls: 1, Per: time.Hour}
	return newHost(t, o, pay), s, pay
}

func request(args, session, approval string) toolhost.Request {
	return toolhost.Request{Tool: "pay", Args: []byte(args), Approval: approval, Caller: toolhost.Caller{Name: "bob", Face: "http", Session: session}}
}

func TestApprovedCallRunsOnceInItsSession(t *testing.T) {
	h, s, _ := approveHost(t, toolhost.Options{})
	_, failed := h.Call(t.Context(), request(`{"sum":1}`, "s", ""))
	require.Equal(t, toolhost.NeedsApproval, failed.Code)
	require.Equal(t, map[string]any{"sum": 1.0}, failed.Data.(map[string]any)["arguments"])
	id := failed.ID
	_, failed = h.RunApproved(t.Context(), id, nil)
	require.Equal(t, []any{toolhost.NeedsApproval, "pending", id}, []any{failed.Code, failed.Detail, failed.ID})
	_, err := s.Approvals.Decide(t.Context(), id, true, "ann")
	require.NoError(t, err)
	// Its rate was counted when it asked.
	answer, failed := h.RunApproved(t.Context(), id, nil)
	require.Nil(t, failed)
	require.Equal(t, `{"face":"approval","n":1,"sum":1}`, string(answer.JSON))
	// Whoever asks again gets the same answer, and nothing runs.
	for _, again := range []func() (*toolhost.Answer, *toolhost.Error){
		func() (*toolhost.Answer, *toolhost.Error) { return h.RunApproved(t.Context(), id, nil) },
		func() (*toolhost.Answer, *toolhost.Error) { return h.Call(t.Context(), request(`{"sum":1}`, "s", id)) },
	} {
		kept, failed := again()
		require.Nil(t, failed)
		require.Equal(t, answer.JSON, kept.JSON)
		require.Equal(t, id, kept.ID)
	}
	state, err := s.State.Load(t.Context(), "session:s")
	require.NoError(t, err)
	require.Equal(t, "1", string(state["n"]))
	for name, req := range map[string]toolhost.Request{"arguments": request(`{"sum":2}`, "s", id), "session": request(`{"sum":1}`, "", id)} {
		_, failed = h.Call(t.Context(), req)
		require.Equal(t, toolhost.Permission, failed.Code, name)
	}
	other := request(`{"sum":1}`, "s", id)
	other.Caller.Name = "eve"
	_, failed = h.Call(t.Context(), other)
	require.Equal(t, toolhost.NotFound, failed.Code)
}

// An approved call that runs already is not run by its caller too, who gets the answer of the one that runs.
func TestApprovedCallThatRuns(t *testing.T) {
	h, s, _ := approveHost(t, toolhost.Options{})
	_, failed := h.Call(t.Context(), request("{}", "", ""))
	_, err := s.Approvals.Decide(t.Context(), failed.ID, true, "ann")
	require.NoError(t, err)
	_, err = s.Approvals.Claim(t.Context(), failed.ID)
	require.NoError(t, err)
	hasty, stop := context.WithCancel(t.Context())
	stop()
	_, again := h.Call(hasty, request("{}", "", failed.ID))
	require.Equal(t, toolhost.NotFound, again.Code, "nobody waits for it")
	done := make(chan string)
	go func() {
		answer, failed := h.Call(t.Context(), request("{}", "", failed.ID))
		if failed != nil {
			done <- failed.Message
			return
		}
		done <- string(answer.JSON)
	}()
	require.NoError(t, s.Approvals.Finish(t.Context(), failed.ID, store.Outcome{Result: []byte("7")}))
	require.Equal(t, "7", <-done)
}

// A call whose tool was changed since it was approved never runs, and says so to whoever asks.
func TestApprovedCallOfAChangedTool(t *testing.T) {
	h, s, pay := approveHost(t, toolhost.Options{})
	_, asked := h.Call(t.Context(), request("{}", "", ""))
	_, err := s.Approvals.Decide(t.Context(), asked.ID, true, "ann")
	require.NoError(t, err)
	changed := *pay
	changed.Hash = "another"
	h.Serve(set{"pay": &changed})
	_, failed := h.RunApproved(t.Context(), asked.ID, nil)
	require.Equal(t, toolhost.Permission, failed.Code)
	a, err := s.Approvals.Get(t.Context(), asked.ID)
	require.NoError(t, err)
	require.Equal(t, store.Done, a.State)
	require.Equal(t, "permission", a.Outcome.Error.Code)
	require.Contains(t, a.Outcome.Error.Message, "was changed")
}

// One that finds no place stays approved.
func TestApprovedCallWithoutAPlace(t *testing.T) {
	h, s, _ := approveHost(t, toolhost.Options{})
	_, asked := h.Call(t.Context(), request("{}", "", ""))
	_, err := s.Approvals.Decide(t.Context(), asked.ID, true, "ann")
	require.NoError(t, err)
	require.NoError(t, h.Drain(t.Context()))
	_, failed := h.RunApproved(t.Context(), asked.ID, nil)
	require.Equal(t, toolhost.Busy, failed.Code)
	a, err := s.Approvals.Get(t.Context(), asked.ID)
	require.NoError(t, err)
	require.Equal(t, store.Approved, a.State)
}
