package store_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func pending(t *testing.T, s *store.Store, c *clock) store.Approval {
	t.Helper()
	a, err := s.Approvals.Create(t.Context(), store.Approval{Tool: "pay", Version: "v1", Caller: "bob", Reason: "It is money.",
		Arguments: json.RawMessage(`{"n": 9007199254740993}`), Expires: c.Now().Add(time.Hour)})
	require.NoError(t, err)
	return a
}

func TestApprovalFromBeginToEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		a := pending(t, s, c)
		require.Equal(t, store.Pending, a.State)
		require.Equal(t, `{"n": 9007199254740993}`, string(a.Arguments))
		require.Equal(t, store.HashArguments(a.Arguments), a.ArgumentsHash)
		require.Equal(t, c.Now(), a.Created)
		require.Equal(t, "It is money.", a.Reason)
		_, err := s.Approvals.Claim(ctx, a.ID)
		requireCode(t, err, store.CodeState, "pending", "approved first")
		c.Advance(time.Minute)
		a, err = s.Approvals.Decide(ctx, a.ID, true, "alice")
		require.NoError(t, err)
		require.Equal(t, store.Approved, a.State)
		require.Equal(t, "alice", a.DecidedBy)
		require.Equal(t, c.Now(), a.Decided)
		_, err = s.Approvals.Decide(ctx, a.ID, false, "eve")
		requireCode(t, err, store.CodeState, "approved", "alice")
		requireCode(t, s.Approvals.Finish(ctx, a.ID, store.Outcome{}), store.CodeState, "approved")
		a, err = s.Approvals.Claim(ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, store.Running, a.State)
		_, err = s.Approvals.Claim(ctx, a.ID)
		requireCode(t, err, store.CodeState, "running")
		c.Advance(2 * time.Hour)
		requireCode(t, s.Approvals.Finish(ctx, a.ID, store.Outcome{Result: make([]byte, store.MaxOutcome+1)}), store.CodeLimit)
		require.NoError(t, s.Approvals.Finish(ctx, a.ID, store.Outcome{Result: json.RawMessage(`[1]`)}))
		requireCode(t, s.Approvals.Finish(ctx, a.ID, store.Outcome{}), store.CodeState, "done")
		a, err = s.Approvals.Get(ctx, a.ID)
		require.NoError(t, err)
		require.Equal(t, store.Done, a.State)
		require.Equal(t, `[1]`, string(a.Outcome.Result))
		_, err = s.Approvals.Get(ctx, "none")
		requireCode(t, err, store.CodeNotFound, "none")
		_, err = s.Approvals.Decide(ctx, "none", true, "alice")
		requireCode(t, err, store.CodeNotFound, "none")
	})
}

// Operators do not approve calls of their own; they may withdraw them.
func TestDecideOther(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		a := pending(t, s, c)
		_, err := s.Approvals.DecideOther(t.Context(), a.ID, true, a.Caller)
		requireCode(t, err, store.CodeOwn, "cannot approve it", a.ID)
		kept, err := s.Approvals.Get(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, store.Pending, kept.State)
		_, err = s.Approvals.DecideOther(t.Context(), a.ID, false, a.Caller)
		require.NoError(t, err)
		other := pending(t, s, c)
		kept, err = s.Approvals.DecideOther(t.Context(), other.ID, true, "alice")
		require.NoError(t, err)
		require.Equal(t, store.Approved, kept.State)
	})
}

func TestDeniedIsNeverClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		a := pending(t, s, c)
		_, err := s.Approvals.Decide(t.Context(), a.ID, false, "alice")
		require.NoError(t, err)
		_, err = s.Approvals.Claim(t.Context(), a.ID)
		requireCode(t, err, store.CodeState, "denied", "alice")
	})
}

func TestApprovalsExpire(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		waiting, approved := pending(t, s, c), pending(t, s, c)
		_, err := s.Approvals.Decide(ctx, approved.ID, true, "alice")
		require.NoError(t, err)
		c.Advance(time.Hour)
		_, err = s.Approvals.Decide(ctx, waiting.ID, true, "alice")
		requireCode(t, err, store.CodeState, "expired", "made anew")
		_, err = s.Approvals.Claim(ctx, approved.ID)
		requireCode(t, err, store.CodeState, "expired")
		list, err := s.Approvals.List(ctx, store.ApprovalFilter{State: store.Expired})
		require.NoError(t, err)
		require.Len(t, list, 2)
		list, err = s.Approvals.List(ctx, store.ApprovalFilter{State: store.Pending})
		require.NoError(t, err)
		require.Empty(t, list)
		_, err = s.Approvals.Create(ctx, store.Approval{Expires: c.Now()})
		requireCode(t, err, store.CodeInvalid)
	})
}

func TestOneDecisionOfMany(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		a := pending(t, s, c)
		var decided, claimed atomic.Int32
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, err := s.Approvals.Decide(t.Context(), a.ID, true, "x"); err == nil {
					decided.Add(1)
				}
				if _, err := s.Approvals.Claim(t.Context(), a.ID); err == nil {
					claimed.Add(1)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, decided.Load())
		require.EqualValues(t, 1, claimed.Load())
	})
}

func TestApprovalsAreListedAndLimited(t *testing.T) {
	c := newClock()
	s := open(t, store.Options{Path: filepath.Join(t.TempDir(), "s.db"), Now: c.Now, MaxPending: 4, MaxPendingPerCaller: 3})
	ctx := t.Context()
	var ids []string
	for range 3 {
		ids = append(ids, pending(t, s, c).ID)
	}
	_, err := s.Approvals.Create(ctx, store.Approval{Caller: "bob", Expires: c.Now().Add(time.Hour)})
	requireCode(t, err, store.CodeLimit, "this caller")
	large := json.RawMessage(`"` + strings.Repeat("x", 5000) + `"`)
	eve, err := s.Approvals.Create(ctx, store.Approval{Caller: "eve", Tool: "x", Arguments: large, Expires: c.Now().Add(time.Hour)})
	require.NoError(t, err)
	_, err = s.Approvals.Create(ctx, store.Approval{Caller: "tim", Expires: c.Now().Add(time.Hour)})
	requireCode(t, err, store.CodeLimit, "4 calls")
	_, err = s.Approvals.Create(ctx, store.Approval{Arguments: json.RawMessage(strings.Repeat("1", store.MaxPendingArguments+1)), Expires: c.Now().Add(time.Hour)})
	requireCode(t, err, store.CodeLimit)

	list, err := s.Approvals.List(ctx, store.ApprovalFilter{Caller: "bob", Limit: 2})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{ids[2], ids[1]}, []string{list[0].ID, list[1].ID}, "newest first")
	list, err = s.Approvals.List(ctx, store.ApprovalFilter{Caller: "bob", Before: ids[1]})
	require.NoError(t, err)
	require.Len(t, list, 1)
	list, err = s.Approvals.List(ctx, store.ApprovalFilter{Tool: "x"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Nil(t, list[0].Arguments, "lists stay small")
	require.Equal(t, large, eve.Arguments)

	c.Advance(time.Hour)
	_, err = s.Approvals.Create(ctx, store.Approval{Caller: "bob", Expires: c.Now().Add(time.Hour)})
	require.NoError(t, err, "what expired waits no more")
	c.Advance(31 * 24 * time.Hour)
	n, err := s.Trim(ctx, store.Retention{})
	require.NoError(t, err)
	require.EqualValues(t, 5, n)
}

func TestPendingSurvivesARestartAndRunningIsInterrupted(t *testing.T) {
	c := newClock()
	options := store.Options{Path: filepath.Join(t.TempDir(), "s.db"), Now: c.Now}
	s, err := store.Open(t.Context(), options)
	require.NoError(t, err)
	waiting, running := pending(t, s, c), pending(t, s, c)
	_, err = s.Approvals.Decide(t.Context(), running.ID, true, "alice")
	require.NoError(t, err)
	_, err = s.Approvals.Claim(t.Context(), running.ID)
	require.NoError(t, err)
	call, err := s.Calls.Create(t.Context(), store.Call{})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s = open(t, options)
	_, err = s.Approvals.Decide(t.Context(), waiting.ID, true, "alice")
	require.NoError(t, err)
	_, err = s.Approvals.Claim(t.Context(), waiting.ID)
	require.NoError(t, err)
	a, err := s.Approvals.Get(t.Context(), running.ID)
	require.NoError(t, err)
	require.Equal(t, store.Interrupted, a.State)
	_, err = s.Approvals.Claim(t.Context(), running.ID)
	requireCode(t, err, store.CodeState, "interrupted")
	call, err = s.Calls.Get(t.Context(), call.ID)
	require.NoError(t, err)
	require.Equal(t, store.Interrupted, call.State)
}

func TestCalls(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		first, err := s.Calls.Create(ctx, store.Call{Tool: "slow", Version: "v", Caller: "bob"})
		require.NoError(t, err)
		c.Advance(time.Minute)
		second, err := s.Calls.Create(ctx, store.Call{Tool: "slow", Caller: "eve"})
		require.NoError(t, err)
		require.NoError(t, s.Calls.Finish(ctx, first.ID, store.Outcome{Error: &store.Failure{Code: "timeout", Message: "too slow", Detail: "d"}}))
		requireCode(t, s.Calls.Finish(ctx, first.ID, store.Outcome{}), store.CodeState, "done")
		requireCode(t, s.Calls.Finish(ctx, "none", store.Outcome{}), store.CodeNotFound)
		got, err := s.Calls.Get(ctx, first.ID)
		require.NoError(t, err)
		require.Equal(t, store.Call{ID: first.ID, Tool: "slow", Version: "v", Caller: "bob", State: store.Done,
			Created: first.Created, Finished: c.Now(), Outcome: &store.Outcome{Error: &store.Failure{Code: "timeout", Message: "too slow", Detail: "d"}}}, got)
		list, err := s.Calls.List(ctx, store.CallFilter{})
		require.NoError(t, err)
		require.Equal(t, []string{second.ID, first.ID}, []string{list[0].ID, list[1].ID})
		list, err = s.Calls.List(ctx, store.CallFilter{State: store.Running, Caller: "eve"})
		require.NoError(t, err)
		require.Len(t, list, 1)
		_, err = s.Calls.Get(ctx, "none")
		requireCode(t, err, store.CodeNotFound)

		c.Advance(25 * time.Hour)
		n, err := s.Trim(ctx, store.Retention{})
		require.NoError(t, err)
		require.EqualValues(t, 1, n, "what runs stays")
		_, err = s.Calls.Get(ctx, second.ID)
		require.NoError(t, err)
	})
}
