package toolhost

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/hukilau/hukilau/go/internal/hostmods/toolmod"
)

// traced begins the span of a call, where the host traces. end closes it, with a span for each host call that
// waited.
func (c *call) traced(ctx context.Context) (inside context.Context, end func(*Error)) {
	tracer := c.host.options.Tracer
	if tracer == nil {
		return ctx, nil
	}
	ctx, span := tracer.Start(ctx, "tool "+c.req.Tool, trace.WithAttributes(
		attribute.String("hukilau.tool", c.req.Tool), attribute.String("hukilau.call", c.id),
		attribute.String("hukilau.face", c.req.Caller.Face), attribute.String("hukilau.caller", c.req.Caller.Name),
	))
	return ctx, func(failed *Error) {
		c.traceWaits(ctx, tracer)
		if u := c.usage(); u.Tokens() > 0 {
			span.SetAttributes(attribute.Int64("gen_ai.usage.input_tokens", u.InputTokens), attribute.Int64("gen_ai.usage.output_tokens", u.OutputTokens))
		}
		if failed != nil {
			span.SetAttributes(attribute.String("error.type", string(failed.Code)))
			span.SetStatus(codes.Error, c.host.options.Redact(failed.Message))
		}
		span.End()
	}
}

// traceWaits tells of host calls after the fact: most runs have none, and those that do know their times.
func (c *call) traceWaits(ctx context.Context, tracer trace.Tracer) {
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	for _, w := range c.told.waits {
		if w.Function == toolmod.CallName {
			continue // it has a span of its own
		}
		_, span := tracer.Start(ctx, w.Function, trace.WithTimestamp(w.Began), trace.WithSpanKind(trace.SpanKindClient))
		if w.Err != nil {
			span.SetStatus(codes.Error, c.host.options.Redact(w.Err.Error()))
		}
		span.End(trace.WithTimestamp(w.Began.Add(max(w.Took, time.Nanosecond))))
	}
}
