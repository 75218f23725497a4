package server

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
)

// event is what a call told, as JSON.
type event struct {
	name string
	data []byte
}

// wantsEvents says whether an Accept header likes a stream of events best; among equals the first one wins.
func wantsEvents(accepted []string) bool {
	best, events := 0.0, false
	for _, header := range accepted {
		header = strings.ToLower(header)
		if !strings.Contains(header, "event-stream") && len(accepted) == 1 {
			return false
		}
		for part := range strings.SplitSeq(header, ",") {
			kind, params, _ := strings.Cut(part, ";")
			if q := quality(params); q > best {
				best, events = q, strings.TrimSpace(kind) == "text/event-stream"
			}
		}
	}
	return events
}

func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		if value, ok := strings.CutPrefix(strings.TrimSpace(param), "q="); ok {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0
			}
			return q
		}
	}
	return 1
}

// teller makes events of what a tool tells. put takes them.
type teller struct {
	put func(ctx context.Context, e event, mayDrop bool) error
}

// Emit implements toolhost.Sink.
func (t teller) Emit(ctx context.Context, chunk []byte) error {
	return t.put(ctx, event{"emit", chunk}, false)
}

// Progress implements toolhost.Sink.
func (t teller) Progress(ctx context.Context, done, total float64, text string) error {
	told := map[string]any{"progress": done}
	if total != 0 {
		told["total"] = total
	}
	if text != "" {
		told["message"] = text
	}
	data, err := jsonvalue.Encode(told)
	if err != nil {
		return err
	}
	return t.put(ctx, event{"progress", data}, false)
}

// Log implements toolhost.Sink. The script does not wait for who reads its log.
func (t teller) Log(ctx context.Context, level slog.Level, message string, fields map[string]any) error {
	told := map[string]any{"level": strings.ToLower(level.String()), "message": strings.ToValidUTF8(message, "\uFFFD")}
	if len(fields) > 0 {
		told["fields"] = fields
	}
	data, err := jsonvalue.Encode(told)
	if err != nil { // fields that have no JSON
		delete(told, "fields")
		if data, err = jsonvalue.Encode(told); err != nil {
			return err
		}
	}
	return t.put(ctx, event{"log", data}, true)
}

// eventWriter writes a stream of events.
type eventWriter struct {
	x    *exchange
	buf  bytes.Buffer
	last int // number of the last event
}

var typeEvents = []string{"text/event-stream"}

// begin sends the headers, once.
func (w *eventWriter) begin() error {
	if w.x.begun {
		return nil
	}
	h := w.x.w.Header()
	h["Content-Type"] = typeEvents
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["X-Accel-Buffering"] = noBuffers // of a proxy in between
	w.x.begun, w.x.code = true, http.StatusOK
	w.x.w.WriteHeader(http.StatusOK)
	return w.flush()
}

// flusher is a ResponseWriter that can send what it holds.
type flusher interface{ FlushError() error }

func (w *eventWriter) flush() error {
	if w.buf.Len() > 0 {
		if _, err := w.x.w.Write(w.buf.Bytes()); err != nil {
			return err
		}
		if w.buf.Reset(); w.buf.Cap() > 2*largeEvent {
			w.buf = bytes.Buffer{}
		}
	}
	if f, ok := w.x.w.(flusher); ok {
		return f.FlushError()
	}
	return nil
}

// unnumbered is the number of an event of which nobody knows how many were before it.
const unnumbered = 0

// event writes one event under its number.
func (w *eventWriter) event(e event, number int) error {
	if err := w.begin(); err != nil {
		return err
	}
	if number != unnumbered {
		w.last = number
		w.buf.WriteString("id: ")
		w.buf.WriteString(strconv.Itoa(number))
		w.buf.WriteByte('\n')
	}
	w.buf.WriteString("event: ")
	w.buf.WriteString(e.name)
	for line := range bytes.SplitSeq(e.data, []byte{'\n'}) {
		w.buf.WriteString("\ndata: ")
		w.buf.Write(line)
	}
	w.buf.WriteString("\n\n")
	return w.flush()
}

// comment writes what clients do not see as an event.
func (w *eventWriter) comment(text string) error {
	if err := w.begin(); err != nil {
		return err
	}
	w.buf.WriteString(": " + text + "\n\n")
	return w.flush()
}

// final is the last event of a call.
func final(p reply) event {
	switch {
	case p.status == 200:
		return event{"result", p.body}
	case p.status == 202:
		return event{"pending", p.body}
	}
	return event{"error", p.body}
}
