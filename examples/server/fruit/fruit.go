// Package fruit is a small HTTP service to try a client with: it has some data, tells what it was sent,
// and on request is slow, fails, or sends a body in pieces.
package fruit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

type item struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Price int    `json:"price"`
}

var stock = []item{{"apple", "fruit", 3}, {"melon", "fruit", 20}, {"leek", "vegetable", 2}}

// The most that the service reads of a body.
const most = 1 << 20

// New makes the service.
//
//	GET  /user.json       somebody's name
//	GET  /items?kind=K    what there is, of one kind if K is given
//	GET  /items/NAME      one of them, or 404
//	POST /items           201 and the item of the body, which is not kept
//	*    /echo            method, query, headers and body of the request; fields and files of a form
//	GET  /slow?ms=N       answers after that time
//	GET  /flaky           503 twice, then 200, and so on
//	GET  /old             a redirect to /user.json
//	GET  /lines?count=N   a body of so many lines, one after the other
//	GET  /events          three server-sent events
//	GET  /weather?city=C  the weather of some cities, or 404
//	POST /rest/api/3/issue  a ticket, as Jira opens one for an account: 201 and its key
func New() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user.json", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"name": "Luau"})
	})
	mux.HandleFunc("GET /items", list)
	mux.HandleFunc("GET /items/{name}", one)
	mux.HandleFunc("POST /items", create)
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("GET /slow", slow)
	mux.HandleFunc("GET /flaky", flaky(new(atomic.Int64)))
	mux.Handle("GET /old", http.RedirectHandler("/user.json", http.StatusFound))
	mux.HandleFunc("GET /lines", lines)
	mux.HandleFunc("GET /events", events)
	mux.HandleFunc("GET /weather", weather)
	mux.HandleFunc("POST /rest/api/3/issue", ticket(new(atomic.Int64)))
	return mux
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

func list(w http.ResponseWriter, r *http.Request) {
	kind := r.URL.Query().Get("kind")
	found := []item{}
	for _, i := range stock {
		if kind == "" || i.Kind == kind {
			found = append(found, i)
		}
	}
	answer(w, http.StatusOK, map[string]any{"items": found})
}

func one(w http.ResponseWriter, r *http.Request) {
	for _, i := range stock {
		if i.Name == r.PathValue("name") {
			answer(w, http.StatusOK, i)
			return
		}
	}
	answer(w, http.StatusNotFound, map[string]string{"error": "no " + r.PathValue("name") + " here"})
}

func create(w http.ResponseWriter, r *http.Request) {
	var i item
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&i); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	answer(w, http.StatusCreated, i)
}

func echo(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	told := map[string]any{"method": r.Method, "query": r.URL.Query(), "headers": r.Header}
	if err := r.ParseMultipartForm(most); err == nil {
		files := map[string]string{}
		for name, list := range r.MultipartForm.File {
			files[name] = fmt.Sprintf("%s, %d bytes", list[0].Filename, list[0].Size)
		}
		told["form"], told["files"] = r.MultipartForm.Value, files
	} else if len(r.PostForm) > 0 {
		told["form"] = r.PostForm
	} else {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			answer(w, http.StatusRequestEntityTooLarge, map[string]string{"error": err.Error()})
			return
		}
		told["body"] = string(body)
	}
	answer(w, http.StatusOK, told)
}

func slow(w http.ResponseWriter, r *http.Request) {
	ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
		answer(w, http.StatusOK, map[string]int{"waited": ms})
	case <-r.Context().Done():
	}
}

func flaky(calls *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%3 != 0 {
			answer(w, http.StatusServiceUnavailable, map[string]string{"error": "busy"})
			return
		}
		answer(w, http.StatusOK, map[string]bool{"ok": true})
	}
}

func lines(w http.ResponseWriter, r *http.Request) {
	count, _ := strconv.Atoi(r.URL.Query().Get("count"))
	for i := range min(count, 1000) {
		fmt.Fprintf(w, "line %d\n", i+1)
		w.(http.Flusher).Flush()
	}
}

func events(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 3 {
		fmt.Fprintf(w, "event: count\nid: %d\ndata: {\"n\":%d}\n\n", i+1, i+1)
		w.(http.Flusher).Flush()
	}
}

var climate = map[string]map[string]any{
	"Honolulu": {"temp": 28, "desc": "sunny"},
	"Hilo":     {"temp": 24, "desc": "rain"},
}

func weather(w http.ResponseWriter, r *http.Request) {
	city := r.URL.Query().Get("city")
	if found, known := climate[city]; known {
		answer(w, http.StatusOK, found)
		return
	}
	answer(w, http.StatusNotFound, map[string]string{"error": "no weather of " + city + " here"})
}

func ticket(opened *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); !ok {
			answer(w, http.StatusUnauthorized, map[string]string{"error": "who are you?"})
			return
		}
		var issue struct {
			Fields struct {
				Summary string
				Project struct{ Key string }
			}
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, most)).Decode(&issue); err != nil || issue.Fields.Summary == "" {
			answer(w, http.StatusBadRequest, map[string]string{"error": "a ticket needs fields.summary and fields.project.key"})
			return
		}
		answer(w, http.StatusCreated, map[string]string{"key": fmt.Sprintf("%s-%d", issue.Fields.Project.Key, opened.Add(1))})
	}
}
