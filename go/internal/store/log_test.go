package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func record(t *testing.T, s *store.Store, entries ...store.Entry) {
	t.Helper()
	for _, e := range entries {
		require.NoError(t, s.Log.Record(t.Context(), e))
	}
	require.NoError(t, s.Log.Flush(t.Context()))
}

func TestLogKeepsAllOfAnEntry(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		e := store.Entry{
			ID: store.NewID(), Time: c.Now(), Duration: 1500 * time.Microsecond, Tool: "weather", Version: "abc", Face: "http", Caller: "bob",
			Parent: "p", Status: store.StatusError, Arguments: store.NewPayload([]byte(`{"n":9007199254740993}`)), Result: store.NewPayload([]byte(`null`)),
			Error:     &store.Failure{Code: "timeout", Message: "too slow", Detail: "trace"},
			HostCalls: []store.HostCall{{Name: "http.get", Target: "https://example.org", Duration: time.Millisecond, Error: "refused"}},
			TokensIn:  10, TokensOut: 20,
		}
		record(t, s, e)
		got, err := s.Log.Get(t.Context(), e.ID)
		require.NoError(t, err)
		e.Seq, e.Arguments.Size, e.Result.Size = 1, len(e.Arguments.Text), len(e.Result.Text)
		require.Equal(t, e, got)
		text, err := json.Marshal(got)
		require.NoError(t, err)
		require.Contains(t, string(text), `"arguments":{"n":9007199254740993}`)
		_, err = s.Log.Get(t.Context(), "none")
		requireCode(t, err, store.CodeNotFound, "none")

		record(t, s, store.Entry{Duration: time.Second, Status: store.StatusOK})
		list, err := s.Log.List(t.Context(), store.Filter{Status: store.StatusOK})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NotEmpty(t, list[0].ID)
		require.Equal(t, c.Now().Add(-time.Second), list[0].Time)
		require.Nil(t, list[0].Error)
	})
}

// Entries that come many at a time share statements; what each has stays its own.
func TestManyEntriesKeepAll(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		plain := func(i int) store.Entry {
			return store.Entry{ID: fmt.Sprint("id", i), Time: c.Now().Add(time.Duration(i) * time.Second), Duration: time.Duration(i) * time.Millisecond,
				Tool: "weather", Version: "v", Face: "http", Caller: "bob", Status: store.StatusOK,
				Arguments: store.Payload{Text: fmt.Sprint(`"ä`, i, `"`)}, Result: store.Payload{Text: fmt.Sprint(i)}}
		}
		for name, change := range map[string]func(*store.Entry){
			"alike":       func(*store.Entry) {},
			"tools":       func(e *store.Entry) { e.Tool = "tool of " + e.ID },
			"status":      func(e *store.Entry) { e.Status = "status of " + e.ID },
			"faces":       func(e *store.Entry) { e.Face = "face of " + e.ID },
			"callers":     func(e *store.Entry) { e.Caller = "caller of " + e.ID },
			"versions":    func(e *store.Entry) { e.Version = "version of " + e.ID },
			"no texts":    func(e *store.Entry) { e.Arguments, e.Result, e.Caller = store.Payload{}, store.Payload{}, "" },
			"cut":         func(e *store.Entry) { e.Arguments.Size = 1 << 20 },
			"a cut one":   func(e *store.Entry) { e.Result.Size = 1 << 20 },
			"host calls":  func(e *store.Entry) { e.HostCalls = []store.HostCall{{Name: e.ID}} },
			"with errors": func(e *store.Entry) { e.Status, e.Error = store.StatusError, &store.Failure{Code: "c", Message: e.ID} },
		} {
			var all []store.Entry
			for i := range 70 {
				e := plain(i)
				e.ID = name + e.ID
				if name != "a cut one" || i == 20 {
					change(&e)
				}
				all = append(all, e)
			}
			record(t, s, all...)
			for i, e := range all {
				got, err := s.Log.Get(t.Context(), e.ID)
				require.NoError(t, err)
				e.Seq, e.Arguments.Size, e.Result.Size = got.Seq, max(e.Arguments.Size, len(e.Arguments.Text)), max(e.Result.Size, len(e.Result.Text))
				require.Equal(t, e, got, "%s %d", name, i)
			}
		}
	})
}

func TestToolsOfTheLog(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		names, err := s.Log.Tools(t.Context())
		require.NoError(t, err)
		require.Empty(t, names)
		record(t, s, store.Entry{Tool: "weigh"}, store.Entry{Tool: "add"}, store.Entry{}, store.Entry{Tool: "weigh"})
		names, err = s.Log.Tools(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"add", "weigh"}, names)
	})
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		long := `"` + strings.Repeat("é", store.MaxLogText) + `"`
		calls := make([]store.HostCall, store.MaxHostCalls+5)
		for i := range calls {
			calls[i].Target = strings.Repeat("ü", 1000)
		}
		for i, payload := range []store.Payload{store.NewPayload([]byte(long)), {Text: long}} {
			id := fmt.Sprint(i)
			record(t, s, store.Entry{ID: id, Tool: strings.Repeat("t", 5000) + "\xff", Status: "x", Arguments: payload, Result: store.Payload{Text: "\xff\xfe"},
				Error: &store.Failure{Message: strings.Repeat("м", 10000), Detail: strings.Repeat("д", 20000)}, HostCalls: calls})
			got, err := s.Log.Get(t.Context(), id)
			require.NoError(t, err)
			require.True(t, got.Arguments.Cut())
			require.Equal(t, len(long), got.Arguments.Size)
			require.InDelta(t, store.MaxLogText, len(got.Arguments.Text), 4)
			require.True(t, strings.HasPrefix(long, got.Arguments.Text))
			require.Len(t, got.HostCalls, store.MaxHostCalls)
			require.Equal(t, 5, got.HostCallsDropped)
			for _, text := range []string{got.Tool, got.Arguments.Text, got.Result.Text, got.Error.Message, got.Error.Detail, got.HostCalls[0].Target} {
				require.True(t, utf8.ValidString(text))
				require.NotEmpty(t, text)
			}
			require.LessOrEqual(t, len(got.Error.Detail), store.MaxLogDetail)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			require.Contains(t, string(text), fmt.Sprintf(`"arguments":{"cut":true,"size":%d,"text":`, len(long)))

			list, err := s.Log.List(t.Context(), store.Filter{Limit: 1})
			require.NoError(t, err)
			require.Less(t, len(list[0].Arguments.Text), 5000, "lists carry the beginning only")
			require.True(t, list[0].Arguments.Cut())
		}
	})
}

func ids(list []store.Entry) string {
	var text []string
	for _, e := range list {
		text = append(text, e.ID)
	}
	return strings.Join(text, " ")
}

func TestLogIsFiltered(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		at := func(minutes int) time.Time { return c.Now().Add(time.Duration(minutes) * time.Minute) }
		record(t, s,
			store.Entry{ID: "a", Time: at(0), Tool: "one", Status: "ok", Caller: "bob", Face: "cli", Arguments: store.Payload{Text: `{"city":"Köln 100%"}`}},
			store.Entry{ID: "c", Time: at(2), Tool: "two", Status: "error", Caller: "eve", Face: "http", Parent: "a", Error: &store.Failure{Message: "Deep_Trouble"}},
			store.Entry{ID: "b", Time: at(1), Tool: "one", Status: "cancelled", Caller: "bob", Face: "http", Parent: "a", Result: store.Payload{Text: `"needle"`}},
			store.Entry{ID: "d", Time: at(3), Tool: "two", Status: "ok", Caller: "bob", Face: "mcp"},
			store.Entry{ID: "d", Time: at(4), Tool: "twice", Status: "ok"})
		for _, test := range []struct {
			filter store.Filter
			want   string
		}{
			{store.Filter{}, "d c b a"},
			{store.Filter{Tool: "one"}, "b a"},
			{store.Filter{Tool: "twice"}, ""},
			{store.Filter{Status: "ok"}, "d a"},
			{store.Filter{Status: "error"}, "c"},
			{store.Filter{Failed: true}, "c b"},
			{store.Filter{Caller: "bob", Face: "http"}, "b"},
			{store.Filter{Parent: "a"}, "c b"},
			{store.Filter{Since: at(1), Until: at(3)}, "c b"},
			{store.Filter{Text: "NEEDLE"}, "b"},
			{store.Filter{Text: "p_t"}, "c"},
			{store.Filter{Text: "%"}, "a"},
			{store.Filter{Text: "Köln"}, "a"},
			{store.Filter{Text: `'"; DROP TABLE runs`}, ""},
			{store.Filter{Limit: 2}, "d c"},
			{store.Filter{Before: "c"}, "b a"},
			{store.Filter{Before: "c", Limit: 1}, "b"},
			{store.Filter{Before: "none"}, ""},
		} {
			list, err := s.Log.List(t.Context(), test.filter)
			require.NoError(t, err)
			require.Equal(t, test.want, ids(list), "%+v", test.filter)
		}
		children, err := s.Log.Children(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, "b c", ids(children))
		children, err = s.Log.Children(t.Context(), "")
		require.NoError(t, err)
		require.Empty(t, children, "what has no parent is nobody's child")
		after, err := s.Log.After(t.Context(), 1, store.Filter{})
		require.NoError(t, err)
		require.Equal(t, "c b d", ids(after), "in the order of writing")
	})
}

func TestFollowSeesEachEntryOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	writer, reader := open(t, store.Options{Path: path}), open(t, store.Options{Path: path})
	record(t, writer, store.Entry{ID: "old"})
	seq, err := reader.Log.LastSeq(t.Context())
	require.NoError(t, err)
	const entries = 300
	var group sync.WaitGroup
	for _, s := range []*store.Store{writer, reader} {
		group.Go(func() {
			enough, seen := errors.New("enough"), map[string]bool{}
			err := s.Log.Follow(t.Context(), seq, store.Filter{Tool: "x"}, func(e store.Entry) error {
				assert.False(t, seen[e.ID])
				if seen[e.ID] = true; len(seen) == entries {
					return enough
				}
				return nil
			})
			assert.ErrorIs(t, err, enough)
		})
	}
	for i := range entries {
		require.NoError(t, writer.Log.Record(t.Context(), store.Entry{ID: fmt.Sprint(i), Tool: "x"}))
		require.NoError(t, writer.Log.Record(t.Context(), store.Entry{Tool: "other"}))
	}
	group.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, reader.Log.Follow(ctx, 0, store.Filter{}, func(store.Entry) error { return nil }), context.Canceled)
}

func TestCloseWritesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := store.Open(t.Context(), store.Options{Path: path, FlushEvery: time.Hour})
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, s.Log.Record(t.Context(), store.Entry{ID: fmt.Sprint(i)}))
	}
	require.NoError(t, s.Close())
	list, err := open(t, store.Options{Path: path}).Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, list, 10)
}

// Many entries do not wait for the interval, and more than the queue holds are not lost.
func TestManyEntriesAreAllWritten(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, _ *clock) {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 3000 {
					assert.NoError(t, s.Log.Record(t.Context(), store.Entry{Status: "ok"}))
				}
			})
		}
		group.Wait()
		require.NoError(t, s.Log.Flush(t.Context()))
		seq, err := s.Log.LastSeq(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 12000, seq)
	})
}

// While another process holds the file, entries wait in memory, and nothing is lost.
func TestLogOutlastsABusyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, store.Options{Path: path, BusyTimeout: time.Millisecond, FlushEvery: time.Millisecond})
	unlock := lock(t, path)
	require.NoError(t, s.Log.Record(t.Context(), store.Entry{ID: "a"}))
	requireCode(t, s.Log.Flush(t.Context()), store.CodeBusy, path)
	require.NoError(t, s.Log.Record(t.Context(), store.Entry{ID: "b"}))
	requireCode(t, s.State.Commit(t.Context(), "a", values("k", `1`)), store.CodeBusy, path)
	_, err := s.State.Load(t.Context(), "a")
	require.NoError(t, err, "reading needs no lock")
	unlock()
	// A try to write that began before may still fail.
	require.Eventually(t, func() bool { return s.Log.Flush(t.Context()) == nil }, 30*time.Second, time.Millisecond)
	list, err := s.Log.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, list, 2)
}

func TestWaitForABusyFileHearsTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, store.Options{Path: path, BusyTimeout: time.Hour})
	unlock := lock(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.State.Commit(ctx, "a", values("k", `1`)), context.DeadlineExceeded)
	unlock()
	require.NoError(t, s.State.Commit(t.Context(), "a", values("k", `1`)))
}

func TestTrimShrinksTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	c := newClock()
	s, err := store.Open(t.Context(), store.Options{Path: path, Now: c.Now})
	require.NoError(t, err)
	size := func() int64 {
		require.NoError(t, s.Close())
		info, err := os.Stat(path)
		require.NoError(t, err)
		s, err = store.Open(t.Context(), store.Options{Path: path, Now: c.Now})
		require.NoError(t, err)
		return info.Size()
	}
	empty := size()
	for range 300 {
		require.NoError(t, s.Log.Record(t.Context(), store.Entry{Arguments: store.Payload{Text: strings.Repeat("x", 10_000)}}))
	}
	full := size()
	require.Greater(t, full, empty+3_000_000)
	c.Advance(time.Hour)
	_, err = s.Trim(t.Context(), store.Retention{LogAge: time.Minute})
	require.NoError(t, err)
	require.Less(t, size(), empty+100_000)
	require.NoError(t, s.Close())
}

func TestRetention(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		begin := c.Now()
		const hours = 1000
		for i := range hours {
			require.NoError(t, s.Log.Record(ctx, store.Entry{Time: begin.Add(time.Duration(i) * time.Hour), Status: "ok",
				Arguments: store.Payload{Text: strings.Repeat("x", 5000)}}))
		}
		require.NoError(t, s.Log.Flush(ctx))
		c.Advance(hours * time.Hour)
		left := func(r store.Retention, deleted int) {
			t.Helper()
			n, err := s.Trim(ctx, r)
			require.NoError(t, err)
			require.EqualValues(t, deleted, n)
		}
		left(store.Retention{LogAge: -1, LogCount: -1}, 0)
		left(store.Retention{LogAge: 900 * time.Hour}, 100)
		left(store.Retention{LogAge: -1, LogCount: 500}, 400)
		left(store.Retention{LogAge: -1, LogCount: 500}, 0)
		list, err := s.Log.List(ctx, store.Filter{Limit: 1000})
		require.NoError(t, err)
		require.Len(t, list, 500)
		require.Equal(t, begin.Add((hours-1)*time.Hour), list[0].Time, "the newest stay")
		left(store.Retention{LogAge: time.Minute}, 500)
		record(t, s, store.Entry{ID: "next", Time: c.Now()})
		next, err := s.Log.Get(ctx, "next")
		require.NoError(t, err)
		require.EqualValues(t, hours+1, next.Seq, "numbers are not used again, whoever follows would miss them")
	})
}
