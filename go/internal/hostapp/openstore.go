package hostapp

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/hukilau/hukilau/go/internal/store"
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

// Locate finds a project and reads its configuration, but none of its tools. It needs none of the variables that
// the configuration names: who looks at a server's log need not have the server's secrets.
func Locate(o Options) (*Project, error) {
	p := &Project{options: o}
	if err := p.find(); err != nil {
		return nil, err
	}
	c, err := p.readConfig()
	if err != nil {
		lenient, failed := p.parseConfig(lookupAny)
		if failed != nil || strings.Contains(lenient.StateDir, unset) {
			return nil, err
		}
		c = lenient
	}
	p.redactor.Store(c.Redactor())
	p.content.Store(&content{config: c})
	return p, nil
}

// unset stands for variables that are not set.
const unset = "\x00unset"

func lookupAny(name string) (string, bool) {
	if value, set := os.LookupEnv(name); set {
		return value, true
	}
	return unset, true
}

// Redact takes the secrets of the configuration out of a text.
func (p *Project) Redact(text string) string { return p.redact(text) }

// UserName is who works at this machine; "" where the system does not say.
func UserName() string { return orWord(os.Getenv("USER"), os.Getenv("LOGNAME")) }
