package hostapp

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func TestCallsAreTracedWhereTheVariablesSaySo(t *testing.T) {
	got := tracesOf(t)
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools", "waits.yaml"), []byte(
		"name: waits\ndescription: Waits.\nparams: {type: object}\nlua: |\n  function invoke(ctx)\n    ctx.emit('x')\n    error('no')\n  end\n"), 0o644))
	project, err := Open(context.Background(), Options{})
	require.NoError(t, err)
	defer project.Close()
	host, err := project.NewHost(context.Background(), HostOptions{InMemory: true})
	require.NoError(t, err)
	_, failed := host.Call(context.Background(), toolhost.Request{Tool: "waits"})
	require.NotNil(t, failed)
	require.NoError(t, host.Close())
	spans := <-got
	require.Contains(t, spans.Resource.String(), "hukilau")
	names := map[string]string{}
	for _, span := range spans.ScopeSpans[0].Spans {
		names[span.Name] = span.GetStatus().GetMessage()
	}
	require.Equal(t, map[string]string{"tool waits": failed.Message, "ctx.emit": ""}, names)
}

func TestOtherProtocolsOfTracesAreRefused(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	_, err := newTracing(context.Background())
	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc: traces are sent as http/protobuf only")
	t.Setenv("OTEL_SDK_DISABLED", "true")
	tracing, err := newTracing(context.Background())
	require.NoError(t, err)
	require.Nil(t, tracing.tracer())
}
