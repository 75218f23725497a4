package server_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

const bearer = "Authorization: Bearer "

// finished waits until a call has an outcome.
func (f *fixture) finished(path string, headers ...string) answer {
	f.t.Helper()
	var a answer
	eventually(f.t, "the call has ended", func() bool {
		a = f.do("GET", path, "", headers...)
		return a.tree(f.t)["state"] == "done"
	})
	return a
}

// gate is a tool that waits until it is let go, by the state of its session.
const gate = `
	ctx.emit("began")
	while not ctx.update_state("open", function(v) return v end) do __native.sleep(5) end
	ctx.emit("goes")
	if args.fail then error({ code = "no_luck", message = "no luck" }) end
	return args`

func TestAsync(t *testing.T) {
	f := start(t, server.Options{Token: token, OperatorToken: operator}, toolhost.Options{}, tool(t, "gate", gate), tool(t, "open", `ctx.state.open = true`))
	mine, theirs := bearer+token, bearer+operator
	a := f.do("POST", "/tools/gate", `{"n":1}`, mine, "Prefer: wait=1, respond-async")
	require.Equal(t, 202, a.status)
	require.Equal(t, "respond-async", a.header.Get("Preference-Applied"))
	id := a.tree(t)["call"].(string)
	path := "/calls/" + id
	require.Equal(t, path, a.header.Get("Location"))
	require.Equal(t, id, a.header.Get("X-Request-Id"))
	require.Equal(t, "running", a.tree(t)["state"])

	e := f.stream(t.Context(), "GET", path+"/events", "", mine)
	require.Equal(t, `emit {"text":"began"}`, e.next())
	a = f.do("GET", path, "", mine)
	require.Equal(t, "running", a.tree(t)["state"])
	require.Equal(t, "1", a.header.Get("Retry-After"))
	require.Equal(t, 200, f.do("POST", "/tools/open", "", mine).status)
	require.Equal(t, []string{`emit {"text":"goes"}`, `result {"result":{"n":1}}`}, e.rest())

	a = f.finished(path, mine)
	require.Equal(t, map[string]any{"n": 1.0}, a.tree(t)["result"])
	require.Equal(t, "gate", a.tree(t)["tool"])
	require.Equal(t, 200, f.do("GET", path, "", theirs).status, "an operator may see it")
	require.Equal(t, 401, f.do("GET", path, "").status)
	whole := []string{`emit {"text":"began"}`, `emit {"text":"goes"}`, `result {"result":{"n":1}}`}
	require.Equal(t, whole, f.stream(t.Context(), "GET", path, "", mine).rest(), "who comes late hears all")
	require.Equal(t, whole[1:], f.stream(t.Context(), "GET", path, "", mine, "Last-Event-ID: 1").rest())
	require.Equal(t, whole[2:], f.stream(t.Context(), "GET", path, "", mine, "Last-Event-ID: 2").rest())
	for _, seen := range []string{"3", "50"} { // also the end: there is no more to tell
		require.Equal(t, 204, f.do("GET", path+"/events", "", mine, "Last-Event-ID: "+seen).status)
	}
	require.Contains(t, f.do("GET", path+"/events", "", mine, "Last-Event-ID: 2").body, "id: 3\nevent: result")
	for range 64 { // those of the latest calls are kept
		f.finished(f.do("POST", "/tools/open", "", mine, "Prefer: respond-async").header.Get("Location"), mine)
	}
	require.Equal(t, "event: result\ndata: {\"result\":{\"n\":1}}\n\n", f.do("GET", path+"/events", "", mine, "Last-Event-ID: 1").body)

	a = f.do("POST", "/tools/gate", `{"fail":true}`, theirs, "Prefer: respond-async", "Session-Id: s")
	require.Equal(t, 202, a.status)
	path = a.header.Get("Location")
	f.do("POST", "/tools/open", "", theirs, "Session-Id: s")
	require.Equal(t, map[string]any{"code": "tool_error", "message": "no luck", "detail": "no_luck"}, f.finished(path, theirs).tree(t)["error"])
	require.Equal(t, 404, f.do("GET", path, "", mine).status, "another caller's call")
	require.Equal(t, 404, f.do("GET", path+"/events", "", mine).status)
	require.Equal(t, 404, f.do("DELETE", path, "", mine).status)
}

func TestAsyncThatIsRefused(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, echo(t))
	require.Equal(t, 404, f.do("POST", "/tools/nothing", "", "Prefer: respond-async").status)
	require.Equal(t, 400, f.do("POST", "/tools/echo", "[", "Prefer: respond-async").status)
	calls, err := f.store.Calls.List(t.Context(), store.CallFilter{})
	require.NoError(t, err)
	require.Empty(t, calls)
}

func TestAsyncIsCancelled(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "loops", "while true do end"))
	a := f.do("POST", "/tools/loops", "", "Prefer: respond-async")
	path := a.header.Get("Location")
	e := f.stream(t.Context(), "GET", path+"/events", "")
	require.Equal(t, 204, f.do("DELETE", path, "").status)
	require.Equal(t, `error {"error":{"code":"cancelled","message":"the call was cancelled","detail":"cancelled"}}`, e.next())
	require.Equal(t, "cancelled", f.finished(path).tree(t)["error"].(map[string]any)["code"])
	require.Equal(t, 409, f.do("DELETE", path, "").status)
}

// Events that nobody reads are dropped, the oldest first; who comes back goes on behind the last one it saw.
func TestEventsOfACallAreKeptWithinBounds(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "open", `ctx.state.open = true`),
		tool(t, "many", "for i = 1, 1000 do ctx.emit({ i = i }) end\n"+gate))
	a := f.do("POST", "/tools/many", "", "Prefer: respond-async")
	path := a.header.Get("Location") + "/events"
	last := f.stream(t.Context(), "GET", path, "")
	for next := last.next(); next != `emit {"text":"began"}`; next = last.next() {
		require.NotEmpty(t, next)
	}
	e := f.stream(t.Context(), "GET", path, "", "Last-Event-ID: 999")
	require.Equal(t, `emit {"i":1000}`, e.next())
	e = f.stream(t.Context(), "GET", path, "")
	first := e.next()
	require.Equal(t, `emit {"i":746}`, first, "256 are kept")
	f.do("POST", "/tools/open", "")
	all := e.rest()
	require.Equal(t, `result {"result":{}}`, all[len(all)-1])
}

func TestLargeEventsOfACallAreNotKept(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "open", `ctx.state.open = true`),
		tool(t, "large", "ctx.emit(string.rep('x', 1000000))\n"+gate))
	a := f.do("POST", "/tools/large", "", "Prefer: respond-async")
	e := f.stream(t.Context(), "GET", a.header.Get("Location")+"/events", "")
	require.Equal(t, `emit {"dropped":1000011}`, e.next())
	require.Equal(t, `emit {"text":"began"}`, e.next())
	f.do("POST", "/tools/open", "")
	e.rest()
}

func approveTool(t testing.TB, name, body string) *fixture {
	deploy := tool(t, name, body)
	deploy.Approve = true
	return start(t, server.Options{Token: token, OperatorToken: operator}, toolhost.Options{}, deploy, echo(t), tool(t, "ran", `return ctx.state.ran or 0`))
}

const counts = `ctx.state.ran = (ctx.state.ran or 0) + 1 return { done = args.to }`

// X17: a caller cannot approve its own call, whatever it makes of the answer that it got.
func TestX17CallersDoNotApprove(t *testing.T) {
	f := approveTool(t, "deploy", counts)
	mine := bearer + token
	a := f.do("POST", "/tools/deploy", `{"to":"prod"}`, mine)
	require.Equal(t, 202, a.status, a.body)
	waits := a.tree(t)
	id := waits["call"].(string)
	require.Equal(t, "pending", waits["state"])
	approval := waits["approval"].(map[string]any)
	require.Equal(t, "deploy", approval["tool"])
	require.Equal(t, map[string]any{"to": "prod"}, approval["arguments"])
	require.NotEmpty(t, approval["expires"])
	for _, header := range []string{mine, "X-A: b", bearer + id, bearer + "wrong", bearer} {
		for _, body := range []string{`{"approve":true}`, `{"approve":true,"by":"operator"}`} {
			status := f.do("POST", "/approvals/"+id, body, header).status
			require.Contains(t, []int{401, 403}, status, header)
		}
		require.Contains(t, []int{401, 403}, f.do("GET", "/approvals", "", header).status)
		require.Contains(t, []int{401, 403}, f.do("GET", "/approvals/"+id, "", header).status)
	}
	a = f.do("POST", "/tools/deploy", `{"to":"prod"}`, mine, "Approval: "+id)
	require.Equal(t, 202, a.status, "it still waits")
	require.Equal(t, id, a.tree(t)["call"])
	require.Equal(t, "pending", f.do("GET", "/calls/"+id, "", mine).tree(t)["state"])
	require.Equal(t, `{"result":0}`, f.do("POST", "/tools/ran", "", mine).body)
}

func TestApproved(t *testing.T) {
	f := approveTool(t, "deploy", counts)
	mine, theirs := bearer+token, bearer+operator
	id := f.do("POST", "/tools/deploy", `{"to":"prod"}`, mine).tree(t)["call"].(string)
	list := f.do("GET", "/approvals?state=pending", "", theirs).tree(t)["approvals"].([]any)
	require.Len(t, list, 1)
	require.Equal(t, "token", list[0].(map[string]any)["caller"])
	require.Equal(t, map[string]any{"to": "prod"}, f.do("GET", "/approvals/"+id, "", theirs).tree(t)["arguments"])
	for _, body := range []string{"", "{}", `{"approve":1}`, `{"approve":true,"x":1}`} {
		require.Equal(t, 400, f.do("POST", "/approvals/"+id, body, theirs).status, body)
	}
	a := f.do("POST", "/approvals/"+id, `{"approve":true}`, theirs)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "operator", a.tree(t)["decided_by"])
	// It runs on its own, once, and both ways to its answer give the same.
	require.Equal(t, map[string]any{"done": "prod"}, f.finished("/calls/"+id, mine).tree(t)["result"])
	for range 2 {
		require.Equal(t, `{"result":{"done":"prod"}}`, f.do("POST", "/tools/deploy", `{"to":"prod"}`, mine, "Approval: "+id).body)
	}
	require.Equal(t, []string{`result {"result":{"done":"prod"}}`}, f.stream(t.Context(), "GET", "/calls/"+id+"/events", "", mine).rest())
	require.Equal(t, `{"result":1}`, f.do("POST", "/tools/ran", "", mine).body)
	require.Equal(t, 409, f.do("POST", "/approvals/"+id, `{"approve":false}`, theirs).status)
	// What was approved cannot be changed, nor used by others.
	a = f.do("POST", "/tools/deploy", `{"to":"other"}`, mine, "Approval: "+id)
	require.Equal(t, 403, a.status)
	require.Contains(t, a.body, "other arguments")
	require.Equal(t, 404, f.do("POST", "/tools/deploy", `{"to":"prod"}`, theirs, "Approval: "+id).status)
}

// Why somebody has to decide is told to who decides.
func TestReasonOfAnApproval(t *testing.T) {
	pays := tool(t, "pays", counts)
	pays.Guard = func(any) (bool, string, error) { return true, "it is money", nil }
	f := serve(t, server.Options{OperatorToken: operator}, toolhost.Options{}, pays)
	id := f.do("POST", "/tools/pays", `{"to":"ada"}`).tree(t)["call"].(string)
	require.Equal(t, "it is money", f.do("GET", "/approvals/"+id, "", bearer+operator).tree(t)["reason"])
}

func TestDenied(t *testing.T) {
	f := approveTool(t, "deploy", counts)
	mine, theirs := bearer+token, bearer+operator
	id := f.do("POST", "/tools/deploy", "", mine).tree(t)["call"].(string)
	e := f.do("POST", "/approvals/"+id, `{"approve":false}`, theirs)
	require.Equal(t, "denied", e.tree(t)["state"])
	require.Equal(t, "denied", f.do("GET", "/calls/"+id, "", mine).tree(t)["state"])
	a := f.do("POST", "/tools/deploy", "", mine, "Approval: "+id)
	require.Equal(t, 403, a.status)
	require.Equal(t, `{"result":0}`, f.do("POST", "/tools/ran", "", mine).body)
	require.Equal(t, 404, f.do("GET", "/approvals/none", "", theirs).status)
	require.Equal(t, 404, f.do("POST", "/approvals/none", `{"approve":true}`, theirs).status)
}

// Who made a call may withdraw it, but not approve it, whichever token it has.
func TestWhoMadeACallWithdrawsIt(t *testing.T) {
	f := approveTool(t, "deploy", counts)
	mine, theirs := bearer+token, bearer+operator
	id := f.do("POST", "/tools/deploy", "", mine).tree(t)["call"].(string)
	require.Equal(t, 404, f.do("DELETE", "/calls/none", "", mine).status)
	require.Equal(t, 204, f.do("DELETE", "/calls/"+id, "", mine).status)
	require.Equal(t, "denied", f.do("GET", "/calls/"+id, "", mine).tree(t)["state"])
	require.Equal(t, 409, f.do("DELETE", "/calls/"+id, "", mine).status)
	require.Equal(t, 409, f.do("POST", "/approvals/"+id, `{"approve":true}`, theirs).status)

	id = f.do("POST", "/tools/deploy", "", theirs).tree(t)["call"].(string)
	a := f.do("POST", "/approvals/"+id, `{"approve":true}`, theirs)
	require.Equal(t, 403, a.status)
	require.Equal(t, "permission", a.code(t))
	require.Equal(t, "pending", f.do("GET", "/calls/"+id, "", theirs).tree(t)["state"])
	require.Equal(t, 200, f.do("POST", "/approvals/"+id, `{"approve":false}`, theirs).status)
}

func TestApprovalsNeedAnOperatorsToken(t *testing.T) {
	deploy := tool(t, "deploy", counts)
	deploy.Approve = true
	f := start(t, server.Options{}, toolhost.Options{}, deploy)
	id := f.do("POST", "/tools/deploy", "").tree(t)["call"].(string)
	a := f.do("POST", "/approvals/"+id, `{"approve":true}`)
	require.Equal(t, 403, a.status)
	require.Contains(t, a.body, "operator_token")
}

func TestIdempotency(t *testing.T) {
	f := start(t, server.Options{Token: token, OperatorToken: operator}, toolhost.Options{}, tool(t, "count", `ctx.state.n = (ctx.state.n or 0) + 1
		if args.fail then error("failed") end
		return ctx.state.n`), tool(t, "other", "return 7"))
	mine, key := bearer+token, "Idempotency-Key: k"
	first := f.do("POST", "/tools/count", `{"a":1}`, mine, key)
	require.Equal(t, `{"result":1}`, first.body)
	require.Empty(t, first.header.Get("Idempotent-Replayed"))
	again := f.do("POST", "/tools/count", `{"a":1}`, mine, key)
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, []string{`result {"result":1}`}, f.stream(t.Context(), "POST", "/tools/count", `{"a":1}`, mine, key).rest())

	a := f.do("POST", "/tools/count", `{"a":2}`, mine, key)
	require.Equal(t, 422, a.status)
	require.Equal(t, "bad_request", a.code(t))
	require.Equal(t, 422, f.do("POST", "/tools/count", `{"a":1}`, mine, key, "Session-Id: s").status, "another session is another request")
	// The scope is caller, tool and key.
	require.Equal(t, `{"result":1}`, f.do("POST", "/tools/count", `{"a":2}`, bearer+operator, key).body)
	require.Equal(t, `{"result":7}`, f.do("POST", "/tools/other", `{"a":2}`, mine, key).body)
	require.Equal(t, `{"result":2}`, f.do("POST", "/tools/count", `{"a":1}`, mine, key+"2").body)
	// An error is an answer too.
	first = f.do("POST", "/tools/count", `{"fail":true}`, mine, key+"3")
	require.Equal(t, 500, first.status)
	again = f.do("POST", "/tools/count", `{"fail":true}`, mine, key+"3")
	require.Equal(t, []any{500, first.body, "true"}, []any{again.status, again.body, again.header.Get("Idempotent-Replayed")})
	// A call that runs on its own is the same one.
	first = f.do("POST", "/tools/count", "", mine, key+"4", "Prefer: respond-async")
	again = f.do("POST", "/tools/count", "", mine, key+"4", "Prefer: respond-async")
	require.Equal(t, []any{202, first.body, first.header.Get("Location")}, []any{again.status, again.body, again.header.Get("Location")})
	require.NotEmpty(t, again.header.Get("Location"))
	for _, bad := range []string{"Idempotency-Key: ", "Idempotency-Key: \xff"} {
		require.Equal(t, 400, f.do("POST", "/tools/count", "", mine, bad).status)
	}
}

func TestIdempotencyWhileInFlight(t *testing.T) {
	f := start(t, server.Options{}, toolhost.Options{}, tool(t, "gate", "ctx.update_state('ran', function(n) return (n or 0) + 1 end)\n"+gate),
		tool(t, "open", `ctx.state.open = true`), tool(t, "ran", "return ctx.state.ran"))
	var all sync.WaitGroup
	answers := make([]answer, 5)
	for i := range answers {
		all.Go(func() { answers[i] = f.do("POST", "/tools/gate", "", "Idempotency-Key: k") })
	}
	eventually(t, "one runs", func() bool { return f.busy() == 1 })
	f.do("POST", "/tools/open", "")
	all.Wait()
	replayed := 0
	for _, a := range answers {
		require.Equal(t, `{"result":{}}`, a.body)
		if a.header.Get("Idempotent-Replayed") != "" {
			replayed++
		}
	}
	require.Equal(t, 4, replayed)
	require.Equal(t, `{"result":1}`, f.do("POST", "/tools/ran", "").body)
}

// What says to try again is not kept.
func TestIdempotencyOfWhatMayBeTriedAgain(t *testing.T) {
	slow := tool(t, "slow", "while true do end")
	slow.Timeout = 20 * time.Millisecond
	f := start(t, server.Options{}, toolhost.Options{}, slow)
	for range 2 {
		a := f.do("POST", "/tools/slow", "", "Idempotency-Key: k")
		require.Equal(t, 408, a.status)
		require.Empty(t, a.header.Get("Idempotent-Replayed"))
	}
}
