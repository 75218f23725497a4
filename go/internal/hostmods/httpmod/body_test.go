package httpmod

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// account is a Memory with a limit that remembers its highest level.
type account struct {
	mu          sync.Mutex
	limit       int64
	level, peak int64
}

var errFull = errors.New("account full")

func (a *account) Charge(n int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.limit > 0 && a.level+n > a.limit {
		return errFull
	}
	a.level += n
	a.peak = max(a.peak, a.level)
	return nil
}

func (a *account) Uncharge(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.level -= n
}

func (a *account) now() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.level
}

func pack(t *testing.T, how string, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip":
		w = gzip.NewWriter(&buf)
	case "zlib":
		w = zlib.NewWriter(&buf)
	case "flate":
		w, _ = flate.NewWriter(&buf, 6)
	}
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// newBomb is a valid gzip body of about 1 MB that inflates to 1 GB: the same
// compressed megabyte 1,024 times over.
func newBomb(t *testing.T) []byte {
	t.Helper()
	zeros := make([]byte, 1<<20)
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, 9)
	require.NoError(t, err)
	_, err = w.Write(zeros)
	require.NoError(t, err)
	require.NoError(t, w.Flush())
	bomb := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}
	var sum uint32
	for range 1 << 10 {
		bomb = append(bomb, block.Bytes()...)
		sum = crc32.Update(sum, crc32.IEEETable, zeros)
	}
	bomb = append(bomb, 1, 0, 0, 255, 255) // an empty last block
	bomb = binary.LittleEndian.AppendUint32(bomb, sum)
	return binary.LittleEndian.AppendUint32(bomb, 1<<30)
}

func TestC04_BombIsRefusedInBoundedMemory(t *testing.T) {
	bomb := newBomb(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for len(bomb) > 0 { // in pieces, so that it goes chunked
			n := min(len(bomb), 64<<10)
			if _, err := w.Write(bomb[:n]); err != nil {
				return
			}
			bomb = bomb[n:]
			w.(http.Flusher).Flush()
		}
	})
	c := newClient(t, Options{Policy: everything})
	mem := &account{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	resp, err := c.Do(t.Context(), &Request{URL: s.URL, Memory: mem})
	runtime.ReadMemStats(&after)
	e := failure(t, err, CodeLimit)
	assert.Nil(t, resp)
	assert.Contains(t, e.Message, "10485760")
	assert.Less(t, mem.peak, int64(20<<20), "charged: old and new buffer of one growth")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(48<<20), "allocated, also what was freed since")
	assert.Zero(t, mem.now())
}

func TestBodyLimit(t *testing.T) {
	const limit = 1000
	sizes := []int{0, 1, limit - 1, limit, limit + 1, 5 * limit}
	for _, how := range []string{"declared", "chunked", "gzip", "zlib", "flate"} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			size, _ := strconv.Atoi(r.URL.Query().Get("size"))
			body := []byte(strings.Repeat("x", size))
			switch how {
			case "declared":
			case "chunked":
				w.(http.Flusher).Flush()
			case "gzip":
				w.Header().Set("Content-Encoding", "GZIP")
				body = pack(t, how, body)
			default:
				w.Header().Set("Content-Encoding", "deflate")
				body = pack(t, how, body)
			}
			_, _ = w.Write(body)
		})
		c := newClient(t, Options{Policy: everything, MaxBody: limit})
		for _, size := range sizes {
			t.Run(how+strconv.Itoa(size), func(t *testing.T) {
				mem := &account{}
				resp, err := c.Do(t.Context(), &Request{URL: s.URL + "/?size=" + strconv.Itoa(size), Memory: mem})
				if size > limit {
					failure(t, err, CodeLimit)
					assert.Zero(t, mem.now())
					return
				}
				require.NoError(t, err)
				assert.Equal(t, strings.Repeat("x", size), string(resp.Body))
				assert.Empty(t, resp.Header.Get("Content-Encoding"))
				assert.GreaterOrEqual(t, mem.now(), int64(size))
				resp.Release()
				resp.Release()
				assert.Zero(t, mem.now())
			})
		}
	}
}

func TestBodiesOfEverySizeArriveWhole(t *testing.T) {
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		if r.URL.Path == "/declared" {
			w.Header().Set("Content-Length", strconv.Itoa(size))
		} else {
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(data[:size])
	})
	c := newClient(t, Options{Policy: everything})
	for _, path := range []string{"/declared", "/chunked"} {
		for _, size := range []int{16<<10 - 1, 16 << 10, 16<<10 + 1, 64 << 10, 64<<10 + 1, 512 << 10, 3 << 20} {
			mem := &account{}
			resp, err := c.Do(t.Context(), &Request{URL: s.URL + path + "?size=" + strconv.Itoa(size), Memory: mem})
			require.NoError(t, err)
			require.True(t, bytes.Equal(data[:size], resp.Body), "%s %d", path, size)
			assert.GreaterOrEqual(t, mem.now(), int64(cap(resp.Body)))
			resp.Release()
			assert.Zero(t, mem.now())
		}
	}
}

func TestDeclaredSizeIsRefusedEarly(t *testing.T) {
	p := newPeer(t, func(conn net.Conn) { // sends no byte of its body
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 109951162777600\r\n\r\n")
	})
	c := newClient(t, Options{Policy: everything})
	_, err := get(t, c, "http://"+p.addr)
	assert.Contains(t, failure(t, err, CodeLimit).Message, "109951162777600")
	p.awaitClose(t)
	resp, err := c.Do(t.Context(), &Request{Method: "HEAD", URL: "http://" + p.addr})
	require.NoError(t, err, "an answer to HEAD only talks about a body")
	assert.Equal(t, "109951162777600", resp.Header.Get("Content-Length"))
}

func TestDeclaredSizeIsNotTakenBeforeItArrives(t *testing.T) {
	p := newPeer(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\nabc")
		conn.(*net.TCPConn).CloseWrite()
	})
	c := newClient(t, Options{Policy: everything})
	mem := &account{}
	_, err := c.Do(t.Context(), &Request{URL: "http://" + p.addr, Memory: mem})
	assert.True(t, failure(t, err, CodeUpstream).Retryable)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Less(t, mem.peak, int64(100<<10))
	assert.Zero(t, mem.now())
}

func TestMemoryAccountStopsTheBody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(make([]byte, 4<<20)) })
	c := newClient(t, Options{Policy: everything})
	mem := &account{limit: 1 << 20}
	_, err := c.Do(t.Context(), &Request{URL: s.URL, Memory: mem})
	failure(t, err, CodeMemory)
	assert.ErrorIs(t, err, errFull)
	assert.LessOrEqual(t, mem.peak, mem.limit)
	assert.Zero(t, mem.now())
}

func TestBrokenCodings(t *testing.T) {
	whole := pack(t, "gzip", []byte(strings.Repeat("hello ", 1000)))
	changed := bytes.Clone(whole)
	changed[len(changed)-6] ^= 1 // its checksum
	const ends, wrong = "the body ends before its gzip data does", "the body is not what its Content-Encoding says"
	for name, row := range map[string]struct {
		body    []byte
		message string
	}{
		"cut": {whole[:len(whole)-9], ends}, "cut in the header": {whole[:5], ends}, "one byte": {[]byte{0x1f}, ends},
		"not gzip": {[]byte("hello, this is text"), wrong}, "checksum": {changed, wrong},
		"something after it": {append(bytes.Clone(whole), "tail"...), ends},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(row.body)
			})
			_, err := get(t, newClient(t, Options{Policy: everything}), s.URL)
			assert.Equal(t, row.message, failure(t, err, CodeUpstream).Message)
		})
	}
}

// A stream of empty gzip members inflates to nothing and never ends.
func TestCompressedNothingHasALimitToo(t *testing.T) {
	empty := pack(t, "gzip", nil)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for {
			if _, err := w.Write(empty); err != nil {
				return
			}
		}
	})
	_, err := get(t, newClient(t, Options{Policy: everything, MaxBody: 1 << 20}), s.URL)
	failure(t, err, CodeLimit)
}

func TestWhoAsksForACodingGetsIt(t *testing.T) {
	packed := pack(t, "gzip", []byte("hello"))
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Asked", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed)
	})
	c := newClient(t, Options{Policy: everything})
	resp, err := get(t, c, s.URL)
	require.NoError(t, err)
	assert.Equal(t, "gzip, deflate", resp.Header.Get("X-Asked"))
	assert.Equal(t, "hello", string(resp.Body))
	for _, header := range []http.Header{{"accept-encoding": {"gzip"}}, {"Range": {"bytes=0-"}}} {
		resp, err = c.Do(t.Context(), &Request{URL: s.URL, Header: header})
		require.NoError(t, err)
		assert.Equal(t, packed, resp.Body)
		assert.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	}
}

func TestUnknownCodingIsLeftAlone(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", r.URL.RawQuery)
		_, _ = w.Write([]byte("raw"))
	})
	c := newClient(t, Options{Policy: everything})
	for _, how := range []string{"br", "gzip,gzip", "identity"} {
		resp, err := get(t, c, s.URL+"/?"+how)
		require.NoError(t, err)
		assert.Equal(t, "raw", string(resp.Body))
		assert.Equal(t, how, resp.Header.Get("Content-Encoding"))
	}
}

func TestBodilessAnswers(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(map[string]int{"/204": 204, "/304": 304, "/200": 200}[r.URL.Path])
	})
	c := newClient(t, Options{Policy: everything})
	for _, path := range []string{"/204", "/304", "/200"} {
		resp, err := get(t, c, s.URL+path)
		require.NoError(t, err)
		assert.Empty(t, resp.Body)
	}
}
