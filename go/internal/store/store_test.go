package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/store"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("STORE_TEST_ROLE"); role != "" {
		os.Exit(play(role, os.Getenv("STORE_TEST_PATH")))
	}
	goleak.VerifyTestMain(m)
}

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func open(t *testing.T, options store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// onBoth runs a test on a file and in memory: both must do the same.
func onBoth(t *testing.T, test func(*testing.T, *store.Store, *clock)) {
	for name, path := range map[string]string{"file": filepath.Join(t.TempDir(), "state", "store.db"), "memory": store.Memory} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			test(t, open(t, store.Options{Path: path, Now: c.Now}), c)
		})
	}
}

// lock holds the file as another process would that writes, until the function is called.
func lock(t *testing.T, path string) func() {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	return func() {
		_, err := conn.ExecContext(t.Context(), "ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
	}
}

func requireCode(t *testing.T, err error, code store.Code, texts ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, store.CodeOf(err), err)
	for _, text := range texts {
		require.ErrorContains(t, err, text)
	}
}

func TestOpenMakesFolderAndFileForTheOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b #1?x%20", "store.db")
	s := open(t, store.Options{Path: path})
	require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `1`)))
	for name, mode := range map[string]os.FileMode{path: 0o600, path + "-wal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

func TestOpenAgainFindsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(t.Context(), store.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `1`)))
	require.NoError(t, s.Close())
	got, err := open(t, store.Options{Path: path}).State.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, values("k", `1`), got)
}

func TestOtherFilesAreLeftAlone(t *testing.T) {
	folder := t.TempDir()
	foreign := filepath.Join(folder, "other.db")
	db, err := sql.Open("sqlite", foreign)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE mine (x)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for name, content := range map[string]string{
		"text.db": "short", "long.db": strings.Repeat("no database ", 1000), "almost.db": "SQLite format 3\x00" + strings.Repeat("x", 5000)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	for _, name := range []string{"other.db", "text.db", "long.db", "almost.db"} {
		path := filepath.Join(folder, name)
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		_, err = store.Open(t.Context(), store.Options{Path: path})
		requireCode(t, err, store.CodeForeign, path, "left as it is")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after, name)
		require.NoFileExists(t, path+"-wal")
	}
	_, err = store.Open(t.Context(), store.Options{Path: folder})
	requireCode(t, err, store.CodeForeign, "not a file")
	_, err = store.Open(t.Context(), store.Options{Path: filepath.Join(foreign, "x.db")})
	requireCode(t, err, store.CodeIO, foreign, "[state] dir in hukilau.toml", "--config")
	_, err = store.Open(t.Context(), store.Options{})
	requireCode(t, err, store.CodeInvalid)
}

func TestNewerFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(t.Context(), store.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA user_version = 4711")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = store.Open(t.Context(), store.Options{Path: path})
	requireCode(t, err, store.CodeNewer, "4711", path)
}

func TestDamagedFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(t.Context(), store.Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `"`+strings.Repeat("x", 100_000)+`"`)))
	require.NoError(t, s.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	damage := func(from int) {
		for i := from; i < len(content); i++ {
			content[i] = 0x5a
		}
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	value := bytes.Index(content, []byte(strings.Repeat("x", 4000)))
	damage((value + 8192) &^ 4095) // from its second page on
	s = open(t, store.Options{Path: path})
	_, err = s.State.Load(t.Context(), "a")
	requireCode(t, err, store.CodeDamaged, path, "move it away")
	require.NoError(t, s.Close())
	damage(4096)
	_, err = store.Open(t.Context(), store.Options{Path: path})
	requireCode(t, err, store.CodeDamaged, path, "move it away")
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := store.Open(t.Context(), store.Options{Path: path})
			if err == nil {
				err = s.State.Update(t.Context(), "a", "n", addOne)
				assert.NoError(t, s.Close())
			}
			assert.NoError(t, err)
		})
	}
	group.Wait()
	value, _, err := open(t, store.Options{Path: path}).State.Get(t.Context(), "a", "n")
	require.NoError(t, err)
	require.Equal(t, "8", string(value))
}

func TestUseAfterClose(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		require.NoError(t, s.Close())
		ctx := t.Context()
		_, err := s.State.Load(ctx, "a")
		requireCode(t, err, store.CodeClosed)
		requireCode(t, s.State.Commit(ctx, "a", values("k", `1`)), store.CodeClosed)
		requireCode(t, s.Log.Record(ctx, store.Entry{}), store.CodeClosed)
		_, err = s.Calls.Create(ctx, store.Call{})
		requireCode(t, err, store.CodeClosed)
		_, err = s.Idempotency.Begin(ctx, store.NewRequestID("a", "b", "c"), "h")
		requireCode(t, err, store.CodeClosed)
		require.NoError(t, s.Close())
	})
}

func TestEndedContext(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.State.Load(ctx, "a")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, s.State.Commit(ctx, "a", values("k", `1`)), context.Canceled)
		require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `2`)))
	})
}
