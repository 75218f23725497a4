package httpmod

import (
	"context"
	"net"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const connectTimeout = 10 * time.Second

// dialer opens connections that the policy has granted.
type dialer struct {
	rules    *rules
	resolver *net.Resolver
}

// guarded dials a target of a script. The check sits in the socket's control
// hook, so it sees every address that is really tried, whatever the look-up said.
func (d *dialer) guarded(ctx context.Context, network, address string) (net.Conn, error) {
	t, err := targetOf(address)
	if err != nil {
		return nil, err
	}
	if err := d.rules.admit(t); err != nil {
		return nil, err
	}
	return d.dial(ctx, network, address, func(_ context.Context, _, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return invalid("the address " + quote(address) + " is not valid")
		}
		return d.rules.admitAddr(t, ap.Addr())
	})
}

// open dials a proxy, which the user's environment named.
func (d *dialer) open(ctx context.Context, network, address string) (net.Conn, error) {
	return d.dial(ctx, network, address, nil)
}

func (d *dialer) dial(ctx context.Context, network, address string, control func(context.Context, string, string, syscall.RawConn) error) (net.Conn, error) {
	w, _ := ctx.Value(watchKey{}).(*watch)
	if w != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(w.ctx, cancel)()
	}
	nd := net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Resolver: d.resolver, ControlContext: control}
	conn, err := nd.DialContext(ctx, network, address)
	if err == nil && w != nil {
		w.guard(conn)
	}
	return conn, err
}

func targetOf(address string) (target, error) {
	name, digits, err := net.SplitHostPort(address)
	if err != nil {
		return target{}, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return target{}, err
	}
	h, err := parseHost(name)
	return target{h, uint16(port)}, err
}

// watch ties a connection that is still being made to the request that asked
// for it. net/http lets a dial go on after its request was cancelled, in case
// another can use it; here a peer that never shakes hands would keep the socket
// of a script that is gone.
type watch struct {
	ctx   context.Context
	mu    sync.Mutex
	over  bool
	stops []func() bool
}

type watchKey struct{}

// watched returns the context to send a request with.
func watched(ctx context.Context) context.Context {
	w := &watch{ctx: ctx}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.release() },
	})
	return context.WithValue(ctx, watchKey{}, w)
}

// guard closes conn if the request ends before it has a connection.
func (w *watch) guard(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.stops = append(w.stops, context.AfterFunc(w.ctx, func() { conn.Close() }))
	}
}

// release is called once the request has a connection: from there on net/http
// closes it when the request is cancelled.
func (w *watch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for _, stop := range w.stops {
		stop()
	}
	w.stops = nil
}

// newResolver is Go's own: the C library's would hold a thread until its
// own timeout. A query's socket closes as soon as nobody waits for it.
func newResolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}}
}
