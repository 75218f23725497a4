package logcmd

import (
	"context"

	"github.com/hukilau/hukilau/go/internal/hostcli/hostprint"
	"github.com/hukilau/hukilau/go/internal/store"
)

// line is an entry as JSON. Durations are seconds, as everywhere.
type line struct {
	*store.Entry
	Duration  float64    `json:"duration"`
	HostCalls []hostCall `json:"host_calls,omitempty"`
	Children  []string   `json:"children,omitempty"` // ids of the calls that it made
}

type hostCall struct {
	store.HostCall
	Duration float64 `json:"duration"`
}

func lineOf(e *store.Entry) line {
	l := line{Entry: e, Duration: e.Duration.Seconds()}
	for _, c := range e.HostCalls {
		l.HostCalls = append(l.HostCalls, hostCall{c, c.Duration.Seconds()})
	}
	return l
}

// lines writes entries as JSON, each whole: a list has only the beginning of long texts.
func (p *printer) lines(ctx context.Context, log *store.Log, list []store.Entry) error {
	for i := range list {
		whole, err := log.Get(ctx, list[i].ID)
		if store.CodeOf(err) == store.CodeNotFound {
			continue // it was deleted as too old, this moment
		}
		if err != nil {
			return err
		}
		if err := hostprint.JSONLine(p.out, lineOf(&whole)); err != nil {
			return err
		}
	}
	return nil
}
