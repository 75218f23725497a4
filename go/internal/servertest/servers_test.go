package servertest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// trust makes the authority of nginx's certificates one of the process.
func (n *nginx) trust() []string {
	return []string{"SSL_CERT_FILE=" + filepath.Join(n.Dir, "ca.pem")}
}

// passed holds that a suite ran, and all of it.
func passed(t *testing.T, out string) {
	t.Helper()
	require.Regexp(t, regexp.MustCompile(`(?m)^[1-9][0-9]* passed, 0 failed, 0 skipped$`), out)
}

func TestNginx(t *testing.T) {
	n := startNginx(t)
	for name, server := range map[string]struct{ url, protocol string }{
		"plain": {"http://" + n.Plain, "HTTP/1.1"}, "TLS": {"https://" + n.TLS1, "HTTP/1.1"}, "HTTP2": {"https://" + n.TLS, "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			passed(t, suite(t, "exchanges.luau", n.trust(), nil, server.url, "http://"+n.Other, server.protocol))
		})
		t.Run(name+" large", func(t *testing.T) {
			passed(t, suite(t, "large.luau", n.trust(), []string{"--memory", "16MiB", "--stats"}, server.url))
		})
	}
	for name, url := range map[string]string{"plain": "http://" + n.Plain, "HTTP2": "https://" + n.TLS} {
		t.Run(name+" broken", func(t *testing.T) {
			passed(t, suite(t, "broken.luau", n.trust(), nil, "http://"+n.Backend, url+"/behind", "http://"+n.Closed, "http://"+n.Plain+"/drop"))
		})
	}
	urls := []string{"good=https://" + n.TLS, "h1=https://" + n.TLS1, "members=https://" + n.Members, "ancient=https://" + n.Ancient, "plain=https://" + n.Plain}
	for name, address := range n.Certified {
		urls = append(urls, name+"=https://"+address)
	}
	t.Run("HTTP2 brief", func(t *testing.T) {
		passed(t, suite(t, "brief.luau", n.trust(), nil, "https://"+n.Brief))
	})
	t.Run("certificates", func(t *testing.T) {
		passed(t, suite(t, "tls.luau", n.trust(), nil, append(urls, "trusted")...))
	})
	t.Run("certificates of strangers", func(t *testing.T) {
		passed(t, suite(t, "tls.luau", nil, nil, urls...))
	})
}

func TestPython(t *testing.T) {
	python := program(t, "python3")
	files := t.TempDir()
	writeFiles(t, files)
	for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
		t.Run(filepath.Base(version), func(t *testing.T) {
			address := announced(t, python, filepath.Join("testdata", "python.py"), version, files)
			passed(t, suite(t, "python.luau", nil, nil, "http://"+address, version))
		})
	}
}

// Node is no program that the build needs, so it may be missing anywhere.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	dir := t.TempDir()
	writeCertificates(t, dir)
	address := announced(t, node, filepath.Join("testdata", "node.js"), filepath.Join(dir, "good.pem"), filepath.Join(dir, "good.key"))
	passed(t, suite(t, "node.luau", []string{"SSL_CERT_FILE=" + filepath.Join(dir, "ca.pem")}, nil, "https://"+address))
}
