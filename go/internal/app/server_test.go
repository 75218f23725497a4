package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// newServer answers as httpbin.org does where the suites ask for that, and badly where they ask for that.
func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	hanging, ended := hanging()
	mux := http.NewServeMux()
	for path, answer := range map[string]http.HandlerFunc{
		"/": echo, "/text": typed("text/plain", `{"a":1}`), "/problem": typed("application/problem+json; charset=utf-8", `{"title":"x"}`),
		"/broken": typed("application/json", `{"a":`), "/stream/{n}": lines, "/forever": forever, "/slow": slow,
		"/lines":           typed("text/plain", "a\r\nb\n\rc\n\nd"),
		"/status/404":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"/moved":           func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/get", http.StatusFound) },
		"/v1/search":       search,
		"/flaky/{key}":     flaky(),
		"/later/{seconds}": later(),
		"/late/{seconds}":  late,
		"/hanging":         hanging, "/ended": ended,
		"/events/endless": typed("text/event-stream", strings.Repeat("data: a\n", 300_000)),
		"/events": typed("text/event-stream", "\ufeffdata: one\n\n: comment\nevent: more\r\nid: 7\r\nretry: 1500\r\n"+
			"data: two\r\ndata:lines\r\n\r\nevent: none\n\nretry: x\ndata\n\ndata: cut off"),
	} {
		mux.HandleFunc(path, answer)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// plain gives single values as texts and repeated ones as arrays.
func plain(values map[string][]string) map[string]any {
	out := map[string]any{}
	for name, list := range values {
		out[name] = any(list)
		if len(list) == 1 {
			out[name] = list[0]
		}
	}
	return out
}

func echo(w http.ResponseWriter, r *http.Request) {
	headers := map[string]string{}
	for name, list := range r.Header {
		headers[name] = strings.Join(list, ", ")
	}
	out := map[string]any{"args": plain(r.URL.Query()), "headers": headers, "method": r.Method, "path": r.URL.Path}
	switch kind := r.Header.Get("Content-Type"); {
	case strings.HasPrefix(kind, "multipart/"):
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			answer(w, http.StatusBadRequest, err.Error())
			return
		}
		out["form"], out["files"] = plain(r.MultipartForm.Value), files(r)
	case kind == "application/x-www-form-urlencoded":
		_ = r.ParseForm()
		out["form"] = plain(r.PostForm)
	default:
		body, _ := io.ReadAll(r.Body)
		out["data"] = string(body)
		var value any
		if json.Unmarshal(body, &value) == nil {
			out["json"] = value
		}
	}
	w.Header().Add("X-Many", "one")
	w.Header().Add("X-Many", "two")
	answer(w, http.StatusOK, out)
}

func files(r *http.Request) map[string]any {
	out := map[string]any{}
	for name, list := range r.MultipartForm.File {
		f, err := list[len(list)-1].Open()
		if err != nil {
			continue
		}
		content, _ := io.ReadAll(f)
		f.Close()
		out[name] = map[string]any{
			"content": string(content), "filename": list[len(list)-1].Filename, "content_type": list[len(list)-1].Header.Get("Content-Type"),
		}
	}
	return out
}

func lines(w http.ResponseWriter, r *http.Request) {
	n := 0
	_, _ = fmt.Sscan(r.PathValue("n"), &n)
	for i := range n {
		fmt.Fprintf(w, "line %d\n", i+1)
		w.(http.Flusher).Flush()
	}
}

func forever(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, "tick\n"); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond)
	}
}

func slow(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(20 * time.Second):
	}
}

// late sends its body some seconds after its head.
func late(w http.ResponseWriter, r *http.Request) {
	wait, _ := time.ParseDuration(r.PathValue("seconds") + "s")
	w.(http.Flusher).Flush()
	time.Sleep(wait)
	_, _ = io.WriteString(w, "late")
}

// flaky fails twice for each key and then works.
func flaky() http.HandlerFunc {
	var mu sync.Mutex
	tries := map[string]int{}
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		tries[r.PathValue("key")]++
		n := tries[r.PathValue("key")]
		mu.Unlock()
		status := http.StatusServiceUnavailable
		if n > 2 {
			status = http.StatusOK
		}
		answer(w, status, map[string]int{"tries": n})
	}
}

// later asks to wait so many seconds, the first time.
func later() http.HandlerFunc {
	var seen sync.Map
	return func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.PathValue("seconds"), true); again {
			return
		}
		w.Header().Set("Retry-After", r.PathValue("seconds"))
		w.WriteHeader(http.StatusTooManyRequests)
	}
}

// hanging writes one line and then waits for the client to go; ended says how often one went.
func hanging() (hanging, ended http.HandlerFunc) {
	var gone atomic.Int32
	hanging = func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		gone.Add(1)
	}
	ended = func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, gone.Load()) }
	return hanging, ended
}

func search(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusOK, map[string]any{"results": []string{r.URL.Query().Get("query"), r.URL.Query().Get("limit")}})
}
