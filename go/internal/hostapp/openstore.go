package hostapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hukilau/hukilau/go/internal/gateway"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/internal/visible"
)

// ErrNothingRan says that a project has no store: no tool of it was called yet.
var ErrNothingRan = errors.New("nothing has run yet")

// OpenStore opens the project's store for who looks at it, and makes none: without one the error is ErrNothingRan.
func (p *Project) OpenStore(ctx context.Context) (*store.Store, error) {
	if _, err := os.Stat(p.StatePath()); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNothingRan
	}
	return store.Open(ctx, p.storeOptions())
}

// Locate finds a project and reads its configuration, but none of its tools, which need not be there. It needs none of
// the variables that the configuration names: who looks at a server's log need not have the server's secrets.
func Locate(o Options) (*Project, error) {
	o.Unset = UnsetTold
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return nil, err
	}
	for _, name := range o.Tools {
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		p.given = append(p.given, path)
	}
	c, err := p.readConfig()
	if err != nil {
		return nil, err
	}
	if err := unsetIn(c, isState); err != nil {
		return nil, err
	}
	p.redactor.Store(redact.New(c.Secrets()))
	p.content.Store(&content{config: c})
	p.tellUnset()
	return p, nil
}

// Redact takes the secrets of the configuration out of a text.
func (p *Project) Redact(text string) string { return p.redact(text) }

// RedactJSON takes the secrets of the configuration and what stands under names of secrets out of a JSON text.
func (p *Project) RedactJSON(text []byte) string { return p.redact(string(redact.Keys(text))) }

// UserName is who works at this machine; "" where the system does not say.
func UserName() string { return orWord(os.Getenv("USER"), os.Getenv("LOGNAME")) }

// TellChanged says of which approved calls the tools are others now than when the calls were made: those do not run.
// Where the tools cannot be read nothing is said, nor of functions of sources, which are asked for when they are called.
func TellChanged(ctx context.Context, o Options, all *store.Approvals, ids []string, out io.Writer) {
	p, err := Open(ctx, o)
	if err != nil {
		return
	}
	defer p.Close()
	now := p.served()
	for _, id := range ids {
		a, err := all.Find(ctx, id)
		if err != nil || a.State != store.Approved || gateway.IsInnerName(a.Tool) {
			continue
		}
		switch tool, there := now.Find(a.Tool); {
		case !there:
			fmt.Fprintf(out, "note: there is no tool %s any more; the call %s will not run\n", visible.Line(a.Tool), a.ID)
		case tool.Hash != a.Version:
			fmt.Fprintf(out, "note: the tool %s was changed since the call %s was made, which will not run: it has to be made again\n", visible.Line(a.Tool), a.ID)
		}
	}
}
