package processmod

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/pkg/hostmod"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limited is the part of a VM that counts memory.
type limited struct {
	hostmod.VM
	limit      int64
	used, peak atomic.Int64
}

func (l *limited) Charge(n int64) bool {
	used := l.used.Add(n)
	if used > l.limit {
		l.used.Add(-n)
		return false
	}
	l.peak.Store(max(used, l.peak.Load()))
	return true
}

func (l *limited) Uncharge(n int64) { l.used.Add(-n) }

func newTestInput(r io.Reader) (*input, *limited) {
	vm := &limited{limit: 1 << 30}
	return newInput(r, vm), vm
}

// got is what a taker gives, as a script sees it.
func got(t *testing.T, in *input, take taker) any {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	value, err := in.wait(ctx, take)
	require.NoError(t, err)
	return asString(t, value)
}

func asString(t *testing.T, value any) any {
	t.Helper()
	if long, ok := value.(*text); ok {
		bytes, err := long.MarshalText()
		require.NoError(t, err)
		return string(bytes)
	}
	return value
}

// However the bytes come, the lines are the same, and nothing stays charged but for the buffers.
func TestLinesOfAllShapes(t *testing.T) {
	long := strings.Repeat("x", 3*chunk+7)
	for name, c := range map[string]struct {
		text  string
		lines []any
	}{
		"nothing":      {"", nil},
		"one":          {"one\n", []any{"one"}},
		"no end":       {"one\ntwo", []any{"one", "two"}},
		"empty ones":   {"\n\na\n\n", []any{"", "", "a", ""}},
		"windows":      {"a\r\nb\rc\r\n\r\n\r", []any{"a", "b\rc", "", "\r"}},
		"zeros":        {"\x00\n\xff\xfe\n", []any{"\x00", "\xff\xfe"}},
		"long":         {long + "\n" + long + "\r\nshort\n" + long, []any{long, long, "short", long}},
		"chunk's edge": {long[:chunk-1] + "\n" + long[:chunk-1] + "\r\n" + "\n", []any{long[:chunk-1], long[:chunk-1], ""}},
	} {
		for way, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader,
			"end with data": iotest.DataErrReader,
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				in, vm := newTestInput(reader(strings.NewReader(c.text)))
				var lines []any
				for line := got(t, in, takeLine); line != nil; line = got(t, in, takeLine) {
					lines = append(lines, line)
				}
				require.Equal(t, c.lines, lines)
				require.Nil(t, got(t, in, takeLine), "the end stays")
				require.Nil(t, got(t, in, takeSome(10)))
				require.Equal(t, "", got(t, in, takeAll))
				require.Equal(t, int64(cap(in.buf)), vm.used.Load())
				require.LessOrEqual(t, cap(in.buf), 4*chunk)
			})
		}
	}
}

// Pieces taken in any way are together what came.
func TestMixedReadsLoseNothing(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		var source bytes.Buffer
		for range 200 {
			source.WriteString(strings.Repeat("y", random.IntN(1+random.IntN(3*chunk/100))))
			source.WriteByte('\n')
		}
		in, vm := newTestInput(iotest.HalfReader(bytes.NewReader(source.Bytes())))
		var taken strings.Builder
		for step := 0; ; step++ {
			if step == 300 {
				taken.WriteString(got(t, in, takeAll).(string))
			}
			if random.IntN(2) == 0 {
				piece := got(t, in, takeSome(1+random.IntN(1000)))
				if piece == nil {
					break
				}
				taken.WriteString(piece.(string))
				continue
			}
			line := got(t, in, takeLine)
			if line == nil {
				break
			}
			taken.WriteString(line.(string) + "\n")
		}
		require.Equal(t, source.String(), taken.String())
		require.Equal(t, int64(cap(in.buf)), vm.used.Load())
	}
}

// A read that was given up is under way still; what it brings is for the next one.
func TestAReadThatIsGivenUpLosesNothing(t *testing.T) {
	r, w := io.Pipe()
	in, _ := newTestInput(r)
	cause := errors.New("enough")
	for _, take := range []taker{takeLine, takeSome(5), takeAll} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(cause) })
		_, err := in.wait(ctx, take)
		require.Equal(t, cause, err)
	}
	_, err := w.Write([]byte("half of"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = in.wait(ctx, takeLine) // maybe with the half in hand
	require.ErrorIs(t, err, context.DeadlineExceeded)
	go func() {
		_, _ = w.Write([]byte(" it\nrest"))
		w.Close()
	}()
	require.Equal(t, "half of it", got(t, in, takeLine))
	require.Equal(t, "rest", got(t, in, takeAll))
}

// Who waits for its turn can give up as well.
func TestTurns(t *testing.T) {
	r, w := io.Pipe()
	in, _ := newTestInput(r)
	first := make(chan any)
	go func() { first <- got(t, in, takeLine) }()
	for len(in.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	_, done, err := in.try(takeAll)
	require.False(t, done)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = in.wait(ctx, takeLine)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = w.Write([]byte("1\n2\n"))
	require.NoError(t, err)
	require.Equal(t, "1", <-first)
	value, done, err := in.try(takeLine)
	require.Equal(t, []any{"2", true, nil}, []any{value, done, err})
	w.Close()
	require.Nil(t, got(t, in, takeLine))
}

// What the memory limit has no room for is an error, and not lost.
func TestMemoryOfInputIsBounded(t *testing.T) {
	const size = 3 << 20
	for name, take := range map[string]taker{"line": takeLine, "all": takeAll} {
		t.Run(name, func(t *testing.T) {
			in, vm := newTestInput(strings.NewReader(strings.Repeat("z", size)))
			vm.limit = 1 << 20
			_, err := in.wait(t.Context(), take)
			require.Equal(t, errNoRoom, err)
			require.Equal(t, luau.CodeMemory, luau.CodeOf(told("process.read_line", err)))
			total := 0
			for piece := got(t, in, takeSome(size)); piece != nil; piece = got(t, in, takeSome(size)) {
				total += len(piece.(string))
			}
			require.Equal(t, size, total)
			require.LessOrEqual(t, vm.peak.Load(), vm.limit)
		})
	}
}

// A text that no script takes any more does not stay charged.
func TestTheEndOfARunGivesBackWhatNobodyTook(t *testing.T) {
	in, vm := newTestInput(strings.NewReader(strings.Repeat("z", 3*chunk)))
	value, err := in.wait(t.Context(), takeAll)
	require.NoError(t, err)
	require.GreaterOrEqual(t, vm.used.Load(), int64(3*chunk))
	(&instance{input: in}).EndRun()
	require.Zero(t, vm.used.Load())
	require.IsType(t, &text{}, value)
}

func TestErrorsOfTheStream(t *testing.T) {
	failure := &fs.PathError{Op: "read", Path: "/dev/stdin", Err: errors.New("is a directory")}
	in, _ := newTestInput(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(failure)))
	require.Equal(t, "a", got(t, in, takeLine))
	_, err := in.wait(t.Context(), takeLine)
	require.Equal(t, &luau.Error{Code: "io", Message: "process.read_line: cannot read standard input: is a directory"},
		told("process.read_line", err))
	_, err = in.wait(t.Context(), takeAll)
	require.Equal(t, failure, err)
	require.Equal(t, "b", got(t, in, takeSome(9)), "what came before the error is there")
	_, err = in.wait(t.Context(), takeSome(9))
	require.Equal(t, failure, err)
}
