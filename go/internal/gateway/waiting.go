package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

// listTime is how much of the start listings wait for: they are about all sources, of which one may be slow.
const listTime = 3 * time.Second

// awaitSources waits for sources that are not known yet, as long as the gateway is young: those that a text names, or
// all of them where it is "". What is not there then is said to be missing. It
// gives whether there was one to wait for.
func (g *Gateway) awaitSources(ctx context.Context, text string) bool {
	most := g.options.StartTime
	if text == "" {
		most = min(most, listTime)
	}
	left := most - time.Since(g.started)
	if left <= 0 {
		return false
	}
	var missing []Upstream
	for _, u := range g.options.Upstreams {
		if u.Source() == nil && u.Status().State == Connecting && mentions(text, u.Name()) {
			missing = append(missing, u)
		}
	}
	if len(missing) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var waiting sync.WaitGroup
	for _, u := range missing {
		waiting.Go(func() { _ = u.Ready(ctx) }) // its status says why it is not
	}
	waiting.Wait()
	return true
}

func mentions(text, name string) bool {
	return text == "" || strings.Contains(text, name) || strings.Contains(text, catalog.Sanitise(name))
}

// Absent says of sources that a text names, and that are configured but not known, why they are not.
func (g *Gateway) Absent(text string) string {
	var lines []string
	for _, u := range g.options.Upstreams {
		if u.Source() != nil || !mentions(text, u.Name()) {
			continue
		}
		status := u.Status()
		reason := status.Reason
		if reason == "" {
			reason = string(status.State)
		}
		lines = append(lines, fmt.Sprintf("\nsdk.%s is configured, and not there now: %s", catalog.Sanitise(u.Name()), spelling.Clip(g.options.Redact(reason), maxSummary)))
	}
	return strings.Join(lines, "")
}

// withAbsent adds to an error of a script what it names that is not there.
func (g *Gateway) withAbsent(err error, source string) error {
	var failed *toolhost.Error
	if errors.As(err, &failed) && strings.Contains(failed.Message, "there is no source") {
		failed.Message += g.Absent(source)
	}
	return err
}
