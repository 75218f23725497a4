package gateway

import (
	"context"
	"strings"
	"sync"
	"time"
)

// listTime is how much of the start listings wait for: they are about all sources, of which one may be slow.
const listTime = 3 * time.Second

// awaitSources waits for sources that are not known yet, as long as the gateway is young: those that a text names, or
// all of them where it is "". What is not there then is said to be missing. It gives whether there was one to wait for.
func (g *Gateway) awaitSources(ctx context.Context, text string) bool {
	most := g.options.StartTime
	if text == "" {
		most = min(most, listTime)
	}
	left := most - time.Since(g.started)
	if left <= 0 {
		return false
	}
	c := g.current.Load().catalog
	var missing []Upstream
	for _, u := range g.options.Upstreams {
		if u.Source() == nil && u.Status().State == Connecting && mentions(text, u.Name(), c.Ident(expectedOf(u))) {
			missing = append(missing, u)
		}
	}
	if len(missing) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	awaitAll(ctx, missing)
	return true
}

// Await waits until each source is known, or why it is not, or ctx ends.
func (g *Gateway) Await(ctx context.Context) { awaitAll(ctx, g.options.Upstreams) }

func awaitAll(ctx context.Context, list []Upstream) {
	var waiting sync.WaitGroup
	for _, u := range list {
		waiting.Go(func() { _ = u.Ready(ctx) }) // its status says why it is not
	}
	waiting.Wait()
}

func mentions(text, name, ident string) bool {
	return text == "" || strings.Contains(text, name) || strings.Contains(text, ident)
}
