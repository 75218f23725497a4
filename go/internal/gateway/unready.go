package gateway

import (
	"context"
	"errors"

	"github.com/hukilau/hukilau/go/internal/gateway/catalog"
)

// Unready is a source that cannot be opened as it is configured, as where a variable is not set. It is listed with the
// reason, and the others work.
type Unready struct {
	Called string // its name
	Of     catalog.Kind
	Reason string
}

var _ Upstream = (*Unready)(nil)

// Name implements Upstream.
func (u *Unready) Name() string { return u.Called }

// Kind implements Upstream.
func (u *Unready) Kind() catalog.Kind { return u.Of }

// Source implements Upstream.
func (u *Unready) Source() *catalog.Source { return nil }

// Status implements Upstream.
func (u *Unready) Status() Status { return Status{State: Unhealthy, Reason: u.Reason} }

// Ready implements Upstream.
func (u *Unready) Ready(context.Context) error { return errors.New(u.Reason) }

// Call implements Upstream.
func (u *Unready) Call(context.Context, *Call) (*Result, error) {
	return nil, &Failure{Code: "unavailable", Message: u.Reason}
}

// Forget implements Upstream.
func (u *Unready) Forget(string) {}

// Close implements Upstream.
func (u *Unready) Close() {}
