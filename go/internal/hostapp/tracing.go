package hostapp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// tracing sends traces where the variables of OpenTelemetry say so. The exporter and the SDK read the others of them
// themselves: headers, timeouts, sampling, resource attributes.
type tracing struct{ provider *sdktrace.TracerProvider }

// flushTime is how long the last traces may take to be sent.
const flushTime = 3 * time.Second

// NewExporter makes what sends traces; main sets it.
var NewExporter = func(context.Context) (sdktrace.SpanExporter, error) {
	return nil, errors.New("this program sends no traces: luau-host does")
}

// newTracing gives no tracer where nothing is to be traced.
func newTracing(ctx context.Context) (*tracing, error) {
	if !wantsTraces() {
		return &tracing{}, nil
	}
	if err := checkProtocol(); err != nil {
		return nil, err
	}
	exporter, err := NewExporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("traces cannot be sent: %w", err)
	}
	about, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK(), resource.WithAttributes(serviceName()...))
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return &tracing{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}, nil
}

func wantsTraces() bool {
	switch {
	case os.Getenv("OTEL_SDK_DISABLED") == "true", os.Getenv("OTEL_TRACES_EXPORTER") == "none":
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || os.Getenv("OTEL_TRACES_EXPORTER") == "otlp"
}

func checkProtocol() error {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch value := os.Getenv(name); value {
		case "":
			continue
		case "http/protobuf":
			return nil
		default:
			return &usageError{fmt.Sprintf("%s=%s: traces are sent as http/protobuf only", name, value)}
		}
	}
	return nil
}

// tracer is nil where nothing is traced.
func (t *tracing) tracer() trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer("github.com/hukilau/hukilau")
}

// close sends what is left.
func (t *tracing) close() error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces were not sent: %w", err)
	}
	return nil
}

// serviceName is ours where the variables give none.
func serviceName() []attribute.KeyValue {
	if os.Getenv("OTEL_SERVICE_NAME") != "" || strings.Contains(os.Getenv("OTEL_RESOURCE_ATTRIBUTES"), "service.name=") {
		return nil
	}
	return []attribute.KeyValue{attribute.String("service.name", "hukilau")}
}
