package gateway

import (
	"sync"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/gateway/luautype"
)

// maxSampled is how many functions samples are kept of.
const maxSampled = 1000

// samples are the types of results that were seen, of functions that do not say what they give. The zero value is
// ready.
type samples struct {
	mu  sync.Mutex
	all map[string]any // JSON Schema, by the function's hash
}

// note keeps what a function gave.
func (s *samples) note(c *catalog.Callable, result any) {
	if c.Result != nil {
		return
	}
	inferred := luautype.InferSchema(result)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]any{}
	}
	for old := range s.all {
		if len(s.all) < maxSampled {
			break
		}
		delete(s.all, old)
	}
	s.all[c.Hash()] = inferred
}

// withSample is a function with the type of its result, where that was only seen.
func (g *Gateway) withSample(c *catalog.Callable) *catalog.Callable {
	if c.Result != nil {
		return c
	}
	g.samples.mu.Lock()
	inferred := g.samples.all[c.Hash()]
	g.samples.mu.Unlock()
	if inferred == nil {
		return c
	}
	return c.WithResult(inferred)
}
