package hostapp

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/hostapp/providers"
	"github.com/hukilau/hukilau/go/internal/toolhost"
)

func TestMain(m *testing.M) {
	Providers, NewExporter = providers.Models, providers.Exporter
	goleak.VerifyTestMain(m)
}

// patience is how long tests wait for what must come.
const patience = 60 * time.Second

// write writes files below a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// inFolder makes a folder with files the working directory.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	write(t, folder, files)
	t.Chdir(folder)
	return folder
}

func open(t *testing.T, o Options) *Project {
	t.Helper()
	p, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func hostOf(t *testing.T, o Options) *Host {
	t.Helper()
	h, err := open(t, o).NewHost(t.Context(), HostOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// call gives the result of a tool as JSON, or the error.
func call(t *testing.T, h *Host, tool, args string) (string, *toolhost.Error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, failed := h.Call(ctx, toolhost.Request{Tool: tool, Args: []byte(args), Caller: toolhost.Caller{Name: "test", Face: "test"}})
	if failed != nil {
		return "", failed
	}
	return string(answer.JSON), nil
}

func result(t *testing.T, h *Host, tool, args string) string {
	t.Helper()
	text, failed := call(t, h, tool, args)
	require.Nil(t, failed)
	return text
}

func names(p *Project) []string {
	list := []string{}
	for _, tool := range p.Tools() {
		list = append(list, tool.Name)
	}
	return list
}

// yaml is a tool whose invoke has this body.
func yaml(name, more, body string) string {
	return "name: " + name + "\ndescription: A tool.\n" + more + "lua: |\n  function invoke(ctx, args)\n    " + body + "\n  end\n"
}

// said is a log that goroutines write to.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
