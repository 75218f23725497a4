package servertest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
)

// nginx is one that runs, by the addresses it listens on.
type nginx struct {
	Dir, Files, Kilobyte string
	Root                 bool

	Plain, Other, TLS, TLS1, Brief, Members, Ancient string
	OtherPort, Closed, Backend                       string
	Certified                                        map[string]string // by the name of a bad certificate

	sockets []*os.File
}

// startNginx starts one with all its files in a folder of the test.
func startNginx(t *testing.T) *nginx {
	t.Helper()
	path := program(t, "nginx")
	n := &nginx{
		Dir: t.TempDir(), Root: os.Geteuid() == 0, Kilobyte: strings.Repeat("k", 1024),
		Closed: closed(t), Backend: misbehaving(t), Certified: map[string]string{},
	}
	n.Files = filepath.Join(n.Dir, "files")
	for _, address := range []*string{&n.Plain, &n.Other, &n.TLS, &n.TLS1, &n.Brief, &n.Members, &n.Ancient} {
		*address = n.socket(t)
	}
	for name := range badCertificates {
		n.Certified[name] = n.socket(t)
	}
	_, n.OtherPort, _ = net.SplitHostPort(n.Other)
	writeCertificates(t, n.Dir)
	writeFiles(t, n.Files)
	require.NoError(t, os.WriteFile(filepath.Join(n.Dir, "users"), []byte("user:{PLAIN}secret word\n"), 0o600))
	for _, name := range []string{"nginx.conf", "locations.conf"} {
		n.configure(t, name)
	}
	n.start(t, path)
	return n
}

func (n *nginx) socket(t *testing.T) string {
	t.Helper()
	address, file := socket(t)
	n.sockets = append(n.sockets, file)
	return address
}

func (n *nginx) configure(t *testing.T, name string) {
	t.Helper()
	text, err := template.ParseFiles(filepath.Join("testdata", name))
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, text.Execute(&out, n))
	require.NoError(t, os.WriteFile(filepath.Join(n.Dir, name), out.Bytes(), 0o600))
}

// start hands the sockets over as nginx does when it replaces its own program: they listen already, so
// that nobody has to wait until it is ready.
func (n *nginx) start(t *testing.T, path string) {
	t.Helper()
	log := filepath.Join(n.Dir, "error.log")
	cmd := exec.Command(path, "-p", n.Dir, "-c", filepath.Join(n.Dir, "nginx.conf"), "-e", log)
	inherited := "NGINX="
	for i := range n.sockets {
		inherited += fmt.Sprintf("%d;", 3+i)
	}
	cmd.Env = append(os.Environ(), inherited)
	cmd.ExtraFiles = n.sockets
	start(t, cmd)
	for _, file := range n.sockets {
		file.Close()
	}
	t.Cleanup(func() {
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("log of nginx:\n%s", text)
		}
	})
}

// The size of the large file, and of what is in a bomb when it is undone.
const (
	bigSize  = 64 << 20
	bombSize = 256 << 20
)

// writeFiles makes what the servers serve.
func writeFiles(t *testing.T, dir string) {
	t.Helper()
	put := func(name string, text []byte) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o644))
	}
	var lines bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	put("small.txt", []byte("0123456789"))
	put("lines.txt", lines.Bytes())
	put("data.json", []byte(`{"list":[`+strings.Repeat("1,", 1000)+`2]}`))
	put("sub/index.html", []byte("index"))
	put("coded/lines", zipped(t, bytes.NewReader(lines.Bytes())))
	put("coded/cut", zipped(t, bytes.NewReader(lines.Bytes()))[:1000])
	put("coded/two", append(zipped(t, strings.NewReader("first ")), zipped(t, strings.NewReader("second"))...))
	put("coded/bomb", zipped(t, io.LimitReader(zeros{}, bombSize)))
	put("big.bin", nil)
	big := filepath.Join(dir, "big.bin")
	require.NoError(t, os.Truncate(big, bigSize))
	file, err := os.OpenFile(big, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer file.Close()
	for _, at := range []int64{0, bigSize / 2, bigSize - 4} {
		_, err := file.WriteAt([]byte("mark"), at)
		require.NoError(t, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func zipped(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	require.NoError(t, err)
	_, err = io.Copy(w, r)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}
