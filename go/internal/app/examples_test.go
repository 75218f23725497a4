package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/app"
)

// The example that needs a server, with one of this process.
func TestHTTPJSONExample(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"items":[{"name":"apple","price":3},{"name":%q,"price":20}]}`, r.URL.Query().Get("kind"))
	})
	mux.HandleFunc("POST /items", func(w http.ResponseWriter, r *http.Request) {
		var item map[string]any
		if err := json.NewDecoder(r.Body).Decode(&item); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"made":%q}`, item["name"])
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	out := run(t, app.Script{Path: "../../../examples/http-json/main.luau", Args: []string{server.URL}})
	require.Equal(t, "apple: 3\nfruit: 20\n201\t{\"made\":\"fig\"}\n", out)
}
