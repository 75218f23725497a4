package store_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/store"
)

func benchStore(b *testing.B, path string) *store.Store {
	s, err := store.Open(b.Context(), store.Options{Path: path})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return s
}

func typicalEntry() store.Entry {
	return store.Entry{ID: store.NewID(), Time: time.Now(), Duration: time.Millisecond, Tool: "weather", Version: "0123456789abcdef", Face: "http",
		Caller: "bob", Status: store.StatusOK, Arguments: store.NewPayload([]byte(`{"city":"Cologne","days":3}`)),
		Result:    store.NewPayload([]byte(`{"temperature":21.5,"text":"sunny with a little wind from the west"}`)),
		HostCalls: []store.HostCall{{Name: "http.get", Target: "https://api.example.org/v1/forecast", Duration: time.Millisecond}}}
}

// cpu is what the process has used so far, all threads together.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkEntry(b *testing.B) {
	for b.Loop() {
		typicalEntry()
	}
}

// What the caller pays, while the queue has room: beside BenchmarkEntry.
func BenchmarkRecord(b *testing.B) {
	s := benchStore(b, filepath.Join(b.TempDir(), "s.db"))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		_ = s.Log.Record(b.Context(), typicalEntry())
		if n++; n%1000 == 0 {
			b.StopTimer()
			require.NoError(b, s.Log.Flush(b.Context()))
			b.StartTimer()
		}
	}
}

// CPU of an entry until it is in the file.
func BenchmarkLogged(b *testing.B) { logged(b, store.Options{}, typicalEntry) }

// The same for one without host calls.
func BenchmarkLoggedPlain(b *testing.B) { logged(b, store.Options{}, plainEntry) }

func plainEntry() store.Entry {
	e := typicalEntry()
	e.HostCalls = nil
	return e
}

// The same where each entry pushes an old one out.
func BenchmarkLoggedFull(b *testing.B) { logged(b, store.Options{MaxLog: 1 << 20}, typicalEntry) }

func logged(b *testing.B, o store.Options, entry func() store.Entry) {
	o.Path = filepath.Join(b.TempDir(), "s.db")
	s, err := store.Open(b.Context(), o)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	before := cpu(b)
	for b.Loop() {
		require.NoError(b, s.Log.Record(b.Context(), entry()))
	}
	require.NoError(b, s.Log.Flush(b.Context()))
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N)/1000, "cpu-us/entry")
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	require.NoError(b, benchStore(b, path).Close())
	for b.Loop() {
		s, err := store.Open(b.Context(), store.Options{Path: path})
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

func BenchmarkOpenNew(b *testing.B) {
	folder := b.TempDir()
	n := 0
	for b.Loop() {
		n++
		s, err := store.Open(b.Context(), store.Options{Path: filepath.Join(folder, strconv.Itoa(n))})
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

func BenchmarkStateCommit(b *testing.B) {
	s := benchStore(b, filepath.Join(b.TempDir(), "s.db"))
	changes := map[string]json.RawMessage{"a": json.RawMessage(`{"n":1}`), "b": json.RawMessage(`[1,2,3]`)}
	for b.Loop() {
		require.NoError(b, s.State.Commit(b.Context(), "agent", changes))
	}
}

func BenchmarkStateLoad(b *testing.B) {
	s := benchStore(b, filepath.Join(b.TempDir(), "s.db"))
	require.NoError(b, s.State.Commit(b.Context(), "agent", map[string]json.RawMessage{"a": json.RawMessage(`{"n":1}`), "b": json.RawMessage(`[1,2,3]`)}))
	for b.Loop() {
		_, err := s.State.Load(b.Context(), "agent")
		require.NoError(b, err)
	}
}

func BenchmarkRequest(b *testing.B) {
	s := benchStore(b, filepath.Join(b.TempDir(), "s.db"))
	n := 0
	for b.Loop() {
		n++
		a, err := s.Idempotency.Begin(b.Context(), store.NewRequestID("c", "t", strconv.Itoa(n)), "h")
		require.NoError(b, err)
		require.NoError(b, a.Finish(b.Context(), store.Answer{Status: 200, Body: []byte(`{"a":1}`)}))
	}
}
