package hostapp

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/hukilau/hukilau/go/internal/config"
	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/mcpserver"
	"github.com/hukilau/hukilau/go/internal/server"
	"github.com/hukilau/hukilau/go/internal/store"
)

// defaultBind is where `luau serve` listens.
const defaultBind = "127.0.0.1:8787"

// Serving says how tools are served.
type Serving struct {
	Bind     string // address and port, over the configuration's; "": as configured, or as a file of another program says, else 127.0.0.1:8787
	NoReload bool   // changed files are not looked at
	Version  string
	// Ready is told where the server listens, when it does. May be nil.
	Ready func(addr net.Addr)
}

// Serve serves the tools over HTTP and MCP until ctx ends, and drains then.
func (h *Host) Serve(ctx context.Context, o Serving) error {
	bind := orWord(orWord(o.Bind, h.Project.Config().Server.Bind), orWord(h.Project.clientBind, defaultBind))
	if err := config.CheckBind(bind); err != nil {
		return &usageError{fmt.Sprintf("--bind %s: it %s", bind, err)}
	}
	f, err := h.newFaces(bind, o)
	if err != nil {
		return err
	}
	defer f.close()
	defer context.AfterFunc(ctx, f.mcp.Drain)() // clients that only listen would keep the server from ending
	defer spareCollections()()
	listener, err := net.Listen("tcp", bind)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w", bind, err)
	}
	end, err := h.background(ctx, o.NoReload, f.mcp.Changed)
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer end()
	if o.Ready != nil {
		o.Ready(listener.Addr())
	}
	return f.http.Serve(ctx, listener)
}

// faces are what a client may talk to.
type faces struct {
	http *server.Server
	mcp  *mcpserver.Server
}

func (h *Host) newFaces(bind string, o Serving) (*faces, error) {
	c := h.Project.Config().Server
	mcp := h.newMCP(o, true)
	s, err := server.New(server.Options{
		Host: h.Host, Store: h.Store, Logger: h.Logger, MCP: mcp.HTTP(), Version: o.Version,
		Bind: bind, Token: c.Token, OperatorToken: c.OperatorToken, AllowedHosts: c.Hosts, Origins: c.Cors,
		BodyLimit: c.BodyLimit, HeaderTimeout: c.HeaderTimeout, BodyTimeout: c.RequestTimeout, IdleTimeout: c.IdleTimeout,
		DrainTime: c.Drain, Broken: h.broken, Redact: h.Project.redact, Traced: h.tracing.provider != nil,
	})
	if err != nil {
		mcp.Close()
		return nil, err
	}
	return &faces{s, mcp}, nil
}

func (f *faces) close() {
	f.http.Close()
	f.mcp.Close()
}

// Handler serves the tools within another server until end is called, which cancels calls that run on their own. Who
// may reach it is that server's business, beside what the configuration asks for. Files that change are loaded unless
// o says otherwise.
func (h *Host) Handler(o Serving) (handler http.Handler, end func(), err error) {
	f, err := h.newFaces(o.Bind, o)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop, err := h.background(ctx, o.NoReload, f.mcp.Changed)
	if err != nil {
		cancel()
		f.close()
		return nil, nil, err
	}
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		f.http.RunDecided(ctx)
	}()
	return f.http.Handler(), func() {
		f.mcp.Drain()
		cancel()
		<-decided
		stop()
		f.close()
	}, nil
}

// Little lives in Go's heap: VMs have memory of their own. With Go's defaults a busy server spends a good tenth of
// its time on collections of a few megabytes. A block of which no page is ever touched makes the heap as large as if
// it were there: garbage of its size may gather, and a heap that is large anyway is collected as ever.
const ballastSize = 32 << 20 // bytes

// spareCollections lets garbage gather, unless the environment says how much may, until the result is called.
func spareCollections() (restore func()) {
	var ballast []byte
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		ballast = make([]byte, ballastSize)
	}
	return func() { runtime.KeepAlive(ballast) }
}

// ServeStdio serves the tools over MCP on standard streams until the input or ctx ends.
func (h *Host) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, o Serving) error {
	h.tellBroken()
	mcp := h.newMCP(o, false)
	defer mcp.Close()
	end, err := h.background(ctx, o.NoReload, mcp.Changed)
	if err != nil {
		return err
	}
	defer end()
	return mcp.Stdio(ctx, in, out)
}

// newMCP makes the MCP side. hostChecked says that the HTTP server has looked at the Host and Origin of requests.
func (h *Host) newMCP(o Serving, hostChecked bool) *mcpserver.Server {
	most := 0 // as ever on standard input
	if hostChecked {
		if most = int(h.Project.Config().Server.BodyLimit); most == 0 {
			most = server.DefaultBodyLimit
		}
	}
	var offers mcpserver.Offers
	if h.Gateway() != nil {
		c := h.Project.Config().Gateway
		offers = gateway.NewOffers(h.Gateway, c.NoResources, c.NoPrompts)
	}
	return mcpserver.New(mcpserver.Options{
		MaxMessage: most, Offers: offers, Ended: h.sessionEnded, Instructions: h.instructions(),
		Host: h.Host, Logger: h.Logger, Redact: h.Project.redact, Version: o.Version,
		HostChecked: hostChecked, OperatorApproves: h.Project.Config().Server.OperatorApproves,
	})
}

func (h *Host) broken() []server.Broken {
	var list []server.Broken
	if wrong := h.wrong.Load(); wrong != nil {
		list = append(list, *wrong)
	}
	for _, b := range h.Project.Broken() {
		list = append(list, server.Broken{File: b.File, Name: b.Name, Error: b.Err.Error()})
	}
	return list
}

// background reloads what changes, and trims the store, until the result is called.
func (h *Host) background(ctx context.Context, noReload bool, changed func()) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	h.gateways.changed.Store(&changed)
	done := make(chan struct{}, 2)
	go func() {
		h.trim(ctx)
		done <- struct{}{}
	}()
	jobs := 1
	if noReload {
		h.tellStray(nil)
	} else {
		w, err := newWatcher(h, changed)
		if err != nil {
			cancel()
			<-done
			return nil, err
		}
		jobs++
		go func() {
			w.run(ctx)
			done <- struct{}{}
		}()
	}
	return func() {
		cancel()
		h.gateways.changed.Store(nil)
		for range jobs {
			<-done
		}
	}, nil
}

// trimEvery is how often old entries of the store are deleted, and trimFirst when that begins: a start has more urgent
// things to do.
const (
	trimEvery = time.Hour
	trimFirst = 5 * time.Second
)

func (h *Host) trim(ctx context.Context) {
	tick := time.NewTicker(trimFirst)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			tick.Reset(trimEvery)
		case <-ctx.Done():
			return
		}
		if _, err := h.Store.Trim(ctx, store.Retention{LogAge: h.Project.Config().Log.Retention}); err != nil && ctx.Err() == nil {
			h.Logger.Error("old entries of the store cannot be deleted", "error", err.Error())
		}
	}
}
