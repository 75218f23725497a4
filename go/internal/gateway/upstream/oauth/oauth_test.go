package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/gateway/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an MCP server with its authorization server, at one address.
type world struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	challenge string // of PKCE, of the login under way
	scope     string
	clients   []string // that have made themselves known
	valid     string   // access token
	refresh   string
	tokens    int
	life      int // of a token, in seconds
	deny      bool
	noMeta    bool
	free      string // method that needs no login
	needs     string // scope of calls
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, life: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(r http.ResponseWriter, _ *http.Request) {
		if w.noMeta {
			http.Error(r, "none", http.StatusNotFound)
			return
		}
		say(r, map[string]any{"resource": w.URL + "/mcp", "authorization_servers": []string{w.URL}, "scopes_supported": []string{"read"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(r http.ResponseWriter, _ *http.Request) {
		say(r, map[string]any{"issuer": w.URL, "authorization_endpoint": w.URL + "/authorize", "token_endpoint": w.URL + "/token",
			"registration_endpoint": w.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
			"scopes_supported": []string{"read", "offline_access"}, "response_types_supported": []string{"code"}})
	})
	mux.HandleFunc("/register", w.register)
	mux.HandleFunc("/authorize", w.authorize)
	mux.HandleFunc("/token", w.token)
	mux.HandleFunc("/mcp", w.mcp)
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return w
}

func say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (w *world) register(r http.ResponseWriter, req *http.Request) {
	var asked map[string]any
	_ = json.NewDecoder(req.Body).Decode(&asked)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients = append(w.clients, fmt.Sprint(asked["client_name"]))
	asked["client_id"] = "client-1"
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(r).Encode(asked)
}

func (w *world) authorize(r http.ResponseWriter, req *http.Request) {
	q := req.URL.Query()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.challenge, w.scope = q.Get("code_challenge"), q.Get("scope")
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		w.t.Error("no PKCE, or no resource:", req.URL)
	}
	to, _ := url.Parse(q.Get("redirect_uri"))
	answer := url.Values{"state": {q.Get("state")}, "code": {"code-1"}}
	if w.deny {
		answer = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	}
	to.RawQuery = answer.Encode()
	http.Redirect(r, req, to.String(), http.StatusFound)
}

func (w *world) token(r http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := sha256.Sum256([]byte(req.Form.Get("code_verifier")))
	proved := base64.RawURLEncoding.EncodeToString(sum[:]) == w.challenge
	byCode := req.Form.Get("grant_type") == "authorization_code" && req.Form.Get("code") == "code-1" && proved
	byRefresh := req.Form.Get("grant_type") == "refresh_token" && req.Form.Get("refresh_token") == w.refresh
	if req.Form.Get("client_id") == "" || !byCode && !byRefresh {
		r.Header().Set("Content-Type", "application/json")
		r.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(r, `{"error":"invalid_grant","error_description":"the-refresh-token itself"}`)
		return
	}
	w.tokens++
	w.valid, w.refresh = fmt.Sprint("access-", w.tokens), fmt.Sprint("refresh-", w.tokens)
	say(r, map[string]any{"access_token": w.valid, "refresh_token": w.refresh, "token_type": "bearer", "expires_in": w.life})
}

func (w *world) mcp(r http.ResponseWriter, req *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(req.Body).Decode(&m)
	w.mu.Lock()
	allowed := w.valid != "" && req.Header.Get("Authorization") == "Bearer "+w.valid || m.Method != "" && m.Method == w.free
	enough := strings.Contains(w.scope, w.needs)
	w.mu.Unlock()
	if m.Method == "tools/call" && allowed && !enough {
		r.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+w.needs+`"`)
		r.WriteHeader(http.StatusForbidden)
		return
	}
	if !allowed {
		r.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.URL+`/.well-known/oauth-protected-resource/mcp"`)
		r.WriteHeader(http.StatusUnauthorized)
		return
	}
	result := `{}`
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"w","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[]}`
	default:
		r.WriteHeader(http.StatusAccepted)
		return
	}
	r.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(r, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// browser opens an address as a person's browser does.
func browser(address string) error {
	r, err := http.Get(address)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err
}

func (w *world) login(store Store) error {
	return Login{Name: "w", URL: w.URL + "/mcp", Store: store}.Run(w.t.Context(), browser)
}

func (w *world) open(store Store) *upstream.Server {
	s := upstream.Open(upstream.Config{Name: "w", URL: w.URL + "/mcp"},
		upstream.Options{Authorize: NewSource(store, "w", w.URL+"/mcp", nil)})
	w.t.Cleanup(s.Close)
	return s
}

func TestLoginAndUse(t *testing.T) {
	w := newWorld(t)
	store := Files{filepath.Join(t.TempDir(), "logins")}
	s := w.open(store)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	err := s.Ready(ctx)
	require.ErrorContains(t, err, "luau gateway login w")
	var failed *upstream.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, upstream.CodeUnauthorized, failed.Code)

	require.NoError(t, w.login(store))
	require.Equal(t, []string{"Hukilau"}, w.clients)
	require.ElementsMatch(t, []string{"read", "offline_access"}, strings.Fields(w.scope))
	// The server that runs finds it.
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err = s.Call(ctx, "a", nil, upstream.CallOptions{}); err == nil {
			break
		}
		require.True(t, time.Now().Before(end), "%v", err)
	}

	// A token that is taken back is renewed, once for all that need it.
	w.mu.Lock()
	w.valid = "taken back"
	before := w.tokens
	w.mu.Unlock()
	var done sync.WaitGroup
	for range 5 {
		done.Go(func() {
			if _, err := s.Call(ctx, "a", nil, upstream.CallOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	require.Equal(t, before+1, w.tokens)
	kept, err := store.Load("w")
	require.NoError(t, err)
	require.Equal(t, w.refresh, kept.Refresh)

	// Where that does not help, one is told what to do, and no secret.
	w.mu.Lock()
	w.valid, w.refresh = "taken back", "taken back"
	w.mu.Unlock()
	_, err = s.Call(ctx, "a", nil, upstream.CallOptions{})
	require.ErrorContains(t, err, "luau gateway login w")
}

// A token is renewed before it ends, and the login holds over starts.
func TestExpiry(t *testing.T) {
	w := newWorld(t)
	w.life = 20 // less than what a token must still have
	store := Files{t.TempDir()}
	require.NoError(t, w.login(store))
	source := NewSource(store, "w", w.URL+"/mcp", nil)
	value, err := source.Authorization(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Bearer access-2", value)
	require.NotEmpty(t, value)

	g, err := store.Load("w")
	require.NoError(t, err)
	g.Expiry, g.Refresh = time.Now().Add(-time.Minute), "wrong"
	require.NoError(t, store.Save("w", g))
	_, err = NewSource(store, "w", w.URL+"/mcp", nil).Authorization(t.Context())
	require.EqualError(t, err, `the login has expired and was not renewed (the authorization server says "invalid_grant")`)

	value, err = NewSource(store, "w", "http://elsewhere.example/mcp", nil).Authorization(t.Context())
	require.NoError(t, err)
	require.Empty(t, value, "a grant is for one address")
}

// Two processes share a right to renew that is good for one time.
func TestTwoRenew(t *testing.T) {
	w := newWorld(t)
	store := Files{t.TempDir()}
	require.NoError(t, w.login(store))
	one, two := NewSource(store, "w", w.URL+"/mcp", nil), NewSource(store, "w", w.URL+"/mcp", nil)
	first, err := one.Authorization(t.Context())
	require.NoError(t, err)
	_, err = two.Authorization(t.Context())
	require.NoError(t, err)
	require.True(t, one.Refused(t.Context(), first))
	require.True(t, two.Refused(t.Context(), first))
	value, err := two.Authorization(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Bearer access-2", value)
	require.Equal(t, 2, w.tokens)
}

func TestLoginFails(t *testing.T) {
	w := newWorld(t)
	store := Files{t.TempDir()}
	w.deny = true
	require.ErrorContains(t, w.login(store), "access_denied")
	w.deny = false
	err := Login{Name: "w", URL: w.URL + "/none", Store: store}.Run(t.Context(), browser)
	require.ErrorContains(t, err, "404")
	err = Login{Name: "w", URL: w.URL + "/mcp", Store: store}.Run(t.Context(), func(string) error { return errors.New("no browser") })
	require.ErrorContains(t, err, "no browser")
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	err = Login{Name: "w", URL: w.URL + "/mcp", Store: store}.Run(ctx, func(string) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	g, err := store.Load("w")
	require.NoError(t, err)
	require.Nil(t, g)

	open := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer open.Close()
	require.ErrorIs(t, Login{Name: "w", URL: open.URL, Store: store}.Run(t.Context(), browser), ErrNotNeeded)
}

// Some servers let everybody begin, and want to know who asks for more.
func TestLoginToServerThatLetsBegin(t *testing.T) {
	w := newWorld(t)
	store := Files{t.TempDir()}
	var asked []string
	lets := httptest.NewServer(http.HandlerFunc(func(r http.ResponseWriter, req *http.Request) {
		var m struct{ Method string }
		_ = json.NewDecoder(req.Body).Decode(&m)
		asked = append(asked, m.Method)
		switch m.Method {
		case "server/discover":
			http.Error(r, "no such method", http.StatusBadRequest)
		case "initialize":
			say(r, map[string]any{})
		default:
			r.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+w.URL+`/.well-known/oauth-protected-resource/mcp"`)
			r.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer lets.Close()
	err := Login{Name: "w", URL: lets.URL, Store: store}.Run(t.Context(), browser)
	require.Error(t, err) // the resource there is another one
	require.NotErrorIs(t, err, ErrNotNeeded)
	require.Equal(t, []string{"server/discover", "initialize", "tools/list"}, asked[:3])
}

// Somebody who calls back without knowing the state does not disturb a login.
func TestStrangersCallBack(t *testing.T) {
	w := newWorld(t)
	store := Files{t.TempDir()}
	require.NoError(t, Login{Name: "w", URL: w.URL + "/mcp", Store: store, ClientID: "known", Scopes: []string{"write"}}.Run(t.Context(), func(address string) error {
		at, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, "known", at.Query().Get("client_id"))
		back := at.Query().Get("redirect_uri")
		require.True(t, strings.HasPrefix(back, "http://127.0.0.1:"), back)
		for _, path := range []string{"?code=evil&state=guessed", "?code=evil", "/../x"} {
			r, err := http.Get(back + path)
			require.NoError(t, err)
			r.Body.Close()
			require.Equal(t, http.StatusBadRequest, r.StatusCode)
		}
		return browser(address)
	}))
	require.Empty(t, w.clients, "it was known")
	require.Contains(t, w.scope, "write")
}

func TestStores(t *testing.T) {
	keyring.MockInit()
	dir := filepath.Join(t.TempDir(), "new", "dir")
	for name, s := range map[string]Store{"files": Files{dir}, "keyring": Keyring{}, "either": Either{Keyring{}, Files{t.TempDir()}}} {
		t.Run(name, func(t *testing.T) {
			server := "../odd name/ü"
			g, err := s.Load(server)
			require.NoError(t, err)
			require.Nil(t, g)
			want := &Grant{URL: "u", Access: "a", Expiry: time.Now().Round(0).UTC()}
			require.NoError(t, s.Save(server, want))
			g, err = s.Load(server)
			require.NoError(t, err)
			require.Equal(t, want, g)
			require.NoError(t, s.Delete(server))
			require.NoError(t, s.Delete(server))
			g, err = s.Load(server)
			require.NoError(t, err)
			require.Nil(t, g)
		})
	}
	require.NoError(t, Files{dir}.Save("a", &Grant{}))
	info, err := os.Stat(filepath.Join(dir, "a.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, os.Chmod(filepath.Join(dir, "a.json"), 0o644))
	_, err = Files{dir}.Load("a")
	require.ErrorContains(t, err, "chmod 600")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.json"), []byte("secret"), 0o600))
	_, err = Files{dir}.Load("b")
	require.EqualError(t, err, "what is kept is no grant: log in again")
}

// Where there is no keyring, the files are used.
func TestEither(t *testing.T) {
	keyring.MockInitWithError(errors.New("no desktop"))
	defer keyring.MockInit()
	s := Either{Keyring{}, Files{t.TempDir()}}
	require.NoError(t, s.Save("a", &Grant{Access: "x"}))
	g, err := s.Load("a")
	require.NoError(t, err)
	require.Equal(t, "x", g.Access)
	require.NoError(t, s.Delete("a"))
	g, err = s.Load("a")
	require.NoError(t, err)
	require.Nil(t, g)
}

// A server that lets anybody begin, and wants more rights later, is served by logging in once more.
func TestMoreRights(t *testing.T) {
	w := newWorld(t)
	store := Files{t.TempDir()}
	w.free, w.needs = "initialize", "write"
	require.NoError(t, w.login(store))
	require.ElementsMatch(t, []string{"read", "offline_access"}, strings.Fields(w.scope))
	s := w.open(store)
	require.NoError(t, s.Ready(t.Context()))
	_, err := s.Call(t.Context(), "a", nil, upstream.CallOptions{})
	require.EqualError(t, err, "mcp server \"w\": it wants more rights than the login has: run `luau gateway login w` again")
	var failed *upstream.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, upstream.CodeUnauthorized, failed.Code)

	require.NoError(t, w.login(store))
	require.ElementsMatch(t, []string{"read", "offline_access", "write"}, strings.Fields(w.scope))
	_, err = s.Call(t.Context(), "a", nil, upstream.CallOptions{})
	require.NoError(t, err, "the connection that is open finds the new login")
	g, err := store.Load("w")
	require.NoError(t, err)
	require.Empty(t, g.Wanted)
}
