package toolhost

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/hostapp"
	"github.com/hukilau/hukilau/go/internal/hostapp/providers"
	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/tooldef"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func init() { hostapp.Providers, hostapp.NewExporter = providers.Models, providers.Exporter }

// Options say which tools there are. The zero value is the project of the working directory.
type Options struct {
	// Dir is the folder of the project: its hukilau.toml, which may be missing, and its tools. "" is the working
	// directory, or the folder above it that has a hukilau.toml.
	Dir string
	// Config is another configuration file than the hukilau.toml of Dir; the project is in its folder then.
	Config string
	// Tools are files and folders of tools, in place of those of the configuration.
	Tools []string
	// InMemory keeps the state of tools, approvals and the execution log until Close only.
	InMemory bool
	// Log gets records of tools and of what goes wrong, as lines of text; nil: nothing is logged.
	Log io.Writer
	// Version is that of the program, as clients of the servers are told.
	Version string
	// LogLevel is the least level of records: "debug", "info" (each call), "warn", "error"; "": as configured, else "warn".
	LogLevel string
}

// Host has the tools of a project. Any goroutine may use it.
type Host struct {
	host    *hostapp.Host
	version string
	alive   context.Context // until Close
	end     context.CancelCauseFunc

	mu     sync.Mutex // of what follows
	using  sync.WaitGroup
	ends   []func()
	closed bool
}

// answerTime is how long calls that were cancelled may take to be answered.
const answerTime = time.Second

// ErrClosed is what a Host says after Close.
var ErrClosed = errors.New("toolhost: the host is closed")

// Open reads the configuration and the tools. A tool that is broken is no error: see Host.Broken. Close the Host.
func Open(ctx context.Context, o Options) (*Host, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	project, err := hostapp.Open(ctx, hostapp.Options{
		Dir: o.Dir, ConfigFile: o.Config, Tools: o.Tools, Stderr: o.Log, LogLevel: o.LogLevel, QuietLevel: "warn",
	})
	if err != nil {
		return nil, err
	}
	host, err := project.NewHost(ctx, hostapp.HostOptions{InMemory: o.InMemory})
	if err != nil {
		return nil, errors.Join(err, project.Close())
	}
	h := &Host{host: host, version: o.Version}
	h.alive, h.end = context.WithCancelCause(context.Background())
	return h, nil
}

// use begins something that Close ends and waits for: by the end of the context, whose cause says so.
func (h *Host) use(ctx context.Context) (context.Context, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, ErrClosed
	}
	h.using.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.alive, func() { cancel(context.Cause(h.alive)) })
	return ctx, func() {
		stop()
		cancel(nil)
		h.using.Done()
	}, nil
}

// Close cancels calls, ends the handlers and servers, waits for all of them, and writes what the log still holds. The
// Host is of no use after that. It must not be called from Call.Events or Call.Ask.
func (h *Host) Close() error {
	h.mu.Lock()
	ends, again := h.ends, h.closed
	h.ends, h.closed = nil, true
	h.mu.Unlock()
	if again {
		return nil
	}
	h.host.Cancel()
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	_ = h.host.Drain(ctx) // what goes on is ended below
	h.end(toolhost.ErrShutdown)
	h.using.Wait()
	for _, end := range ends {
		end()
	}
	return errors.Join(h.host.Close(), h.host.Project.Close())
}

// Tool describes a tool.
type Tool struct {
	Name        string
	Title       string // for people; "" is none
	Description string
	Version     string          // as its author says; "" is none
	Params      json.RawMessage // JSON Schema of the arguments, always of an object
	Result      json.RawMessage // JSON Schema of the result; nil is none
	Tags        []string
	Approve     bool   // an operator approves each call
	File        string // where it is defined, from the project's folder
}

// Tools are the tools by name, as they are now.
func (h *Host) Tools() []Tool {
	var list []Tool
	for _, t := range h.host.Tools() {
		list = append(list, describe(t))
	}
	return list
}

// Tool is the tool of a name.
func (h *Host) Tool(name string) (Tool, bool) {
	t, ok := h.host.Find(name)
	if !ok {
		return Tool{}, false
	}
	return describe(t), true
}

func describe(t *tooldef.Tool) Tool {
	made := Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Version: t.Version, Params: textOf(t.Params.Document()),
		Tags: t.Tags, Approve: t.Approve, File: t.File,
	}
	if t.Result != nil {
		made.Result = textOf(t.Result.Document())
	}
	return made
}

// textOf is the JSON of a schema, which was read from JSON or YAML: it has one.
func textOf(document any) json.RawMessage {
	text, err := jsonvalue.Encode(document)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// Broken is a definition that could not be loaded. Where there was a good version before, that serves on.
type Broken struct {
	Name string // "" where it is not known
	File string
	Line int // from 1; 0 where it is not known
	Err  error
}

// Broken are the definitions that could not be loaded.
func (h *Host) Broken() []Broken {
	var list []Broken
	for _, b := range h.host.Project.Broken() {
		list = append(list, Broken{b.Name, b.File, b.Line, b.Err})
	}
	return list
}

// Reload reads the configuration and the tools again and swaps them in whole. When it fails all stays as it was.
// Calls that run finish with what they began with.
func (h *Host) Reload(ctx context.Context) error {
	ctx, done, err := h.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	return h.host.Reload(ctx)
}

// Decide approves or denies a call that waits for approval, in the name of an operator, who is not the Caller of that
// call. An approved call runs at once where a Handler or Serve is up; otherwise when it is made again with
// Call.Approval.
func (h *Host) Decide(ctx context.Context, id string, approve bool, by string) error {
	ctx, done, err := h.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	_, err = h.host.Store.Approvals.DecideOther(ctx, id, approve, by)
	return err
}

// Serve serves the tools over HTTP and the Model Context Protocol on an address such as "127.0.0.1:8787" until ctx
// ends, and lets calls finish then: meanwhile no others are taken, of the program's own neither. "" is what the configuration says. Files that change are loaded as they change.
// ready is told where the server listens; it may be nil.
func (h *Host) Serve(ctx context.Context, address string, ready func(net.Addr)) error {
	ctx, done, err := h.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	defer h.host.Resume()
	return h.host.Serve(ctx, hostapp.Serving{Bind: address, Ready: ready, Version: h.version})
}

// Handler serves the same within a server of the program: routes such as /tools/NAME and /mcp, with the token, the
// Host and Origin checks and the limits that the configuration asks for. It ends with Close. Put http.StripPrefix
// around it where it is not at the root.
func (h *Host) Handler() (http.Handler, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	handler, end, err := h.host.Handler(hostapp.Serving{Version: h.version})
	if err != nil {
		return nil, err
	}
	h.ends = append(h.ends, end)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, done, err := h.use(r.Context())
		if err != nil {
			http.Error(w, ErrClosed.Error(), http.StatusServiceUnavailable)
			return
		}
		defer done()
		handler.ServeHTTP(w, r.WithContext(ctx))
	}), nil
}

// ServeStdio serves the Model Context Protocol to one client, a message a line, until in or ctx ends.
func (h *Host) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, done, err := h.use(ctx)
	if err != nil {
		return err
	}
	defer done()
	return h.host.ServeStdio(toolhost.WithCaller(ctx, toolhost.Caller{Name: "local", Face: "mcp"}), in, out, hostapp.Serving{Version: h.version})
}
