// Package providers are the parts of package hostapp that weigh most: the SDKs of models, and of traces. A program that
// does without them starts sooner and takes half of the memory.
package providers

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/hukilau/hukilau/go/internal/models"
	"github.com/hukilau/hukilau/go/internal/models/anthropicmodel"
	"github.com/hukilau/hukilau/go/internal/models/geminimodel"
	"github.com/hukilau/hukilau/go/internal/models/openaimodel"
)

// Models make models, by the names that providers have in a configuration.
var Models = map[string]func(models.Options) (models.Provider, error){
	"openai": func(o models.Options) (models.Provider, error) {
		return openaimodel.New(openaimodel.Options{Options: o})
	},
	"openai-compatible": func(o models.Options) (models.Provider, error) {
		return openaimodel.New(openaimodel.Options{Options: o, Compatible: true})
	},
	"anthropic": func(o models.Options) (models.Provider, error) { return anthropicmodel.New(o) },
	"gemini":    func(o models.Options) (models.Provider, error) { return geminimodel.New(o) },
}

// Exporter sends traces to where the variables of OpenTelemetry say.
func Exporter(ctx context.Context) (sdktrace.SpanExporter, error) { return otlptracehttp.New(ctx) }
