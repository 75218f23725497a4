package app

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// within does work that may block for ever, and gives up waiting for it when ctx ends.
func within[T any](ctx context.Context, work func() (T, error)) (T, error) {
	return withinGrace(ctx, 0, work)
}

// withinGrace waits so much longer when ctx has ended.
func withinGrace[T any](ctx context.Context, grace time.Duration, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		select {
		case o := <-done:
			return o.value, o.err
		case <-time.After(grace):
		}
		var none T
		return none, luau.KilledBy(context.Cause(ctx))
	}
}

// lastWords is how long output may still take when the run is over: what was printed before shall be
// seen.
const lastWords = 50 * time.Millisecond

// patientWriter writes to somebody who may not read: when a run ends, a write of it that blocks is
// given up and later ones fail. Files on a disk do not block.
type patientWriter struct {
	w      io.Writer
	blocks bool
	ctx    context.Context
	err    error
}

func patient(w io.Writer) patientWriter {
	f, ok := w.(*os.File)
	if !ok {
		return patientWriter{w: w}
	}
	info, err := f.Stat()
	return patientWriter{w: w, blocks: err != nil || !info.Mode().IsRegular()}
}

// begin makes the writer one of a run under ctx.
func (p *patientWriter) begin(ctx context.Context) { p.ctx, p.err = ctx, nil }

func (p *patientWriter) Write(text []byte) (int, error) {
	switch {
	case !p.blocks:
		return p.w.Write(text)
	case p.err != nil:
		return 0, p.err
	}
	own := append([]byte(nil), text...) // what is given up goes on reading it
	n, err := withinGrace(p.ctx, lastWords, func() (int, error) { return p.w.Write(own) })
	p.err = err
	return n, err
}

// WriteSoon writes text to w, and gives up when nobody takes it for a second.
func WriteSoon(w io.Writer, text string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = within(ctx, func() (int, error) { return io.WriteString(w, text) })
}
