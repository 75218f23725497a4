package httpmod

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var everything = Policy{AllowAll: true}

func newClient(t *testing.T, opts Options) *Client {
	t.Helper()
	c, err := New(opts)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdle)
	return c
}

func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, c *Client, url string) (*Response, error) {
	t.Helper()
	return c.Do(t.Context(), &Request{URL: url})
}

// failure returns err as the package's error and checks its code.
func failure(t *testing.T, err error, code string) *Error {
	t.Helper()
	var e *Error
	require.True(t, errors.As(err, &e), "want an *Error, got %v", err)
	require.Equal(t, code, e.Code, e.Error())
	return e
}

func portOfURL(t *testing.T, s string) string {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u.Port()
}

// nameServer answers A queries from a list of answers for each name: the first
// query gets the first, later ones the next, the last answer stays.
type nameServer struct {
	conn    net.PacketConn
	mu      sync.Mutex
	answers map[string][][]string
	asked   map[string]int
}

func newNameServer(t *testing.T, answers map[string][][]string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &nameServer{conn: conn, answers: answers, asked: map[string]int{}}
	done := make(chan struct{})
	go func() { defer close(done); s.run() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

func (s *nameServer) run() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := s.reply(buf[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) reply(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := q.Name.String()
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	s.mu.Lock()
	defer s.mu.Unlock()
	list, known := s.answers[name]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	if known && q.Type == dnsmessage.TypeA {
		i := min(s.asked[name], len(list)-1)
		s.asked[name]++
		for _, text := range list[i] {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(text).As4()},
			})
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func (s *nameServer) queries(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name]
}

// resolver is the package's own, asking s in place of the system's servers.
func (s *nameServer) resolver() *net.Resolver {
	r := newResolver()
	dial := r.Dial
	r.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, "udp", s.conn.LocalAddr().String())
	}
	return r
}

// peer accepts connections, hands each to f once the client has sent something,
// and reports when the client has closed it.
type peer struct {
	addr    string
	closed  chan struct{}
	answer  func(net.Conn)
	running sync.WaitGroup
}

func newPeer(t *testing.T, answer func(net.Conn)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &peer{addr: l.Addr().String(), closed: make(chan struct{}, 1000), answer: answer}
	p.running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.running.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() { l.Close(); p.running.Wait() })
	return p
}

func (p *peer) serve(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 4096)
	for n := 0; ; n++ {
		if _, err := conn.Read(buf); err != nil {
			p.closed <- struct{}{}
			return
		}
		if n == 0 && p.answer != nil {
			p.running.Go(func() { p.answer(conn) })
		}
	}
}

func (p *peer) awaitClose(t *testing.T) {
	t.Helper()
	select {
	case <-p.closed:
	case <-time.After(3 * time.Second):
		require.Fail(t, "the client left its socket open")
	}
}
