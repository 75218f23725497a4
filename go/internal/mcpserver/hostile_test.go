package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// slow is a call that goes through the SDK: it has params that are not plain.
func slow(id, tool string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","unknown":1}}`
}

// Whatever headers the SDK refuses a call for, the short way refuses it for as well.
func TestHeadersThatTheSDKRefuses(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	for _, header := range []http.Header{
		{"Accept": {"application/jsonx, text/event-stream"}},
		{"Accept": {"application/json, xtext/event-stream"}},
		{"Accept": {"application/json;x=text/event-stream"}},
		{"Accept": {"application/json"}},
		{"Accept": {"application/json", "text/event-stream"}},
		{"Accept": {"APPLICATION/JSON;q=0.5 , text/*"}},
		{"Accept": {"text/event-stream; charset=utf-8,application/json"}},
		{"Content-Type": {"application/json; charset=utf-8"}},
		{"Content-Type": {"application/json; charset"}},
		{"Content-Type": {"application/jsonx"}},
		{"Last-Event-Id": {""}},
		{"Mcp-Protocol-Version": {"1999-01-01"}},
		{"Mcp-Protocol-Version": {"2025-06-18"}},
		{"Mcp-Protocol-Version": {"2026-07-28"}},
		{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"other"}},
	} {
		w := f.web(t)
		w.greet("2025-11-25", "{}")
		w.header = header
		short, messages := w.post(callOf("1", "echo", "{}"))
		long, others := w.post(slow("1", "echo"))
		require.Equal(t, long.StatusCode, short.StatusCode, "%v %v %v", header, messages, others)
	}
}

// What is no JSON object to us is none to the SDK either, which would read its beginning.
func TestMoreThanOneObject(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxSessions: 1}, tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	for _, after := range []string{" x", "{}", "]", "\x00"} {
		other := f.web(t)
		response, messages := other.post(initialize("2025-11-25", "{}") + after)
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
		require.EqualValues(t, "-32700", fmt.Sprint(messages[0].at("error.code")))
		response, _ = w.post(callOf("1.5", "echo", "{}") + after)
		require.Equal(t, http.StatusBadRequest, response.StatusCode)
	}
	require.Equal(t, 1, f.server.OpenSessions())
}

// A session that ends ends all that runs in it, whichever way it goes, and takes no more.
func TestNothingBeginsInASessionThatEnds(t *testing.T) {
	stop := make(chan struct{})
	f := serving(t, tool(t, "asks", asks), tool(t, "echo", echo),
		tool(t, "stays", "", native(func(context.Context, toolhost.Calling) (tooldef.Output, error) {
			<-stop
			return tooldef.Output{JSON: []byte("1")}, nil
		})))
	w := f.web(t)
	w.greet("2025-11-25", form)
	short, long := w.events(t, callOf("1", "asks", "{}")), w.events(t, slow("2", "asks"))
	short.next()
	long.next()
	var ends sync.WaitGroup
	ends.Go(func() { w.post(slow("3", "stays")) })
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 3 }, patience, time.Millisecond)
	ends.Go(func() {
		response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodDelete, ""))
		if err == nil {
			response.Body.Close()
		}
	})
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 1 }, patience, time.Millisecond,
		"calls that wait for the user end at once")
	response, _ := w.post(callOf("4", "echo", "{}"))
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	response, _ = w.post(slow("5", "echo"))
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	close(stop)
	ends.Wait()
}

// Close ends questions that wait, whichever way their call goes.
func TestCloseEndsQuestions(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	w := f.web(t)
	w.greet("2025-11-25", form)
	w.events(t, callOf("1", "asks", "{}")).next()
	w.events(t, slow("2", "asks")).next()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		f.server.Close()
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
}

// An end that is refused is none.
func TestEndsThatAreRefused(t *testing.T) {
	f := serving(t, tool(t, "echo", echo))
	w := f.web(t)
	w.greet("2025-11-25", "{}")
	for version, status := range map[string]int{"1999-01-01": http.StatusBadRequest, "2026-07-28": http.StatusMethodNotAllowed} {
		w.header.Set("Mcp-Protocol-Version", version)
		response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodDelete, ""))
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, status, response.StatusCode)
		w.header.Del("Mcp-Protocol-Version")
		response, _ = w.post(callOf("1", "echo", "{}"))
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
}

// Sessions that begin at the same moment are no more than there may be, once one begins after them.
func TestSessionsThatBeginAtOnce(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{MaxSessions: 3}, tool(t, "echo", echo))
	w := f.web(t)
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() { w.post(initialize("2025-11-25", "{}")) })
	}
	all.Wait()
	w.post(initialize("2025-11-25", "{}"))
	require.LessOrEqual(t, f.server.OpenSessions(), 3)
}

// A client that does not read, and one that hangs up wherever it likes, leave nothing behind.
func TestClientsThatGo(t *testing.T) {
	f := servingWith(t, toolhost.Options{}, mcpserver.Options{WriteTime: 50 * time.Millisecond, MaxSessions: 5}, tool(t, "echo", echo), tool(t, "asks", asks),
		tool(t, "floods", `function invoke(ctx)
			local text = string.rep("x", 10000)
			for n = 1, 1e6 do ctx.progress(n, 0, text) end
		end`))
	w := f.web(t)
	w.greet("2025-11-25", form)
	flood := `{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"floods","_meta":{"progressToken":1}}}`
	response, err := http.DefaultClient.Do(w.request(context.Background(), http.MethodPost, flood))
	require.NoError(t, err)
	defer response.Body.Close()
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			ctx, stop := context.WithTimeout(context.Background(), time.Duration(n%20)*time.Millisecond)
			defer stop()
			id, called := fmt.Sprint(n%50), "asks"
			if n%3 == 0 {
				called = "echo"
			}
			body := callOf(id, called, "{}")
			switch n % 7 {
			case 0:
				body = slow(id, called)
			case 1:
				body = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
			case 2:
				body = fmt.Sprintf(`{"jsonrpc":"2.0","id":"question-%d","result":{"action":"accept","content":{"name":"Ada","age":7}}}`, n)
			}
			response, err := http.DefaultClient.Do(w.request(ctx, http.MethodPost, body))
			if err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool { running, _ := f.host.Load(); return running == 0 }, patience, time.Millisecond)
	_, messages := w.post(callOf("1", "echo", "{}"))
	require.Equal(t, "{}", messages[0].at("result.content.0.text"))
}

// Answers of any shape end their call.
func TestAnswersOfAnyShape(t *testing.T) {
	f := serving(t, tool(t, "asks", asks))
	w := f.web(t)
	w.greet("2025-11-25", form)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	for _, rest := range []string{
		`"result":null`, `"result":{}`, `"result":7`, `"result":{"action":"accept","content":` + deep + `}`,
		`"result":{"action":"accept","content":{"name":` + deep + `}}`, `"result":{"action":"accept","content":{"name":"` + strings.Repeat("x", 1<<20) + `"}},"error":{}`,
		`"error":{"code":"x"}`, `"error":null,"result":{"action":"decline"}`, `"result":{"action":"cancel"},"id":"question-x","id":`,
	} {
		s := w.events(t, callOf("1", "asks", "{}"))
		q := s.next()
		if strings.HasSuffix(rest, `"id":`) { // the last of two members counts
			id, _ := json.Marshal(q["id"])
			rest += string(id)
		}
		w.answers(t, q, rest)
		require.NotNil(t, s.next()["result"], "%.80s", rest)
		response, _ := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"decline"}}`, q["id"]))
		require.Equal(t, http.StatusAccepted, response.StatusCode, "an answer again")
	}
}
