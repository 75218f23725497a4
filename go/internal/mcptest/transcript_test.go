package mcptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hukilau/hukilau/go/internal/mcptest"
)

var update = flag.Bool("update", false, "write the transcripts anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const root = "../../../tests/mcp"

// A transcript is what a client sends over standard input, in lines that begin with "> ", and what it reads, in
// lines that begin with "< ". Other files of the archive are tools.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "testdata", "*.txtar"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { transcript(t, file) })
	}
}

func transcript(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	dir := t.TempDir()
	var wanted *txtar.File
	for i, part := range archive.Files {
		if part.Name == "transcript" {
			wanted = &archive.Files[i]
			continue
		}
		path := filepath.Join(dir, "tools", filepath.Base(part.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, part.Data, 0o644))
	}
	require.NotNil(t, wanted, "no file `transcript`")
	served, err := mcptest.Serve(context.Background(), dir, slog.New(slog.DiscardHandler), "tools")
	require.NoError(t, err)
	defer served.Close()
	client := connect(t, served)
	defer client.close()
	var got strings.Builder
	for line := range strings.Lines(string(wanted.Data)) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
		if !ok {
			continue
		}
		fmt.Fprintf(&got, "> %s\n", line)
		for _, answer := range client.exchange(line) {
			fmt.Fprintf(&got, "< %s\n", answer)
		}
	}
	if *update {
		wanted.Data = []byte(got.String())
		require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
		return
	}
	require.Equal(t, string(wanted.Data), got.String(), "run with -update to write what was said, and read the difference")
}

type client struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan string
	ended chan error
}

func connect(t *testing.T, served *mcptest.Served) *client {
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	c := &client{t: t, in: in, lines: make(chan string, 100), ended: make(chan error, 1)}
	go func() {
		err := served.Server.Stdio(context.Background(), toServer, fromServer)
		fromServer.Close()
		c.ended <- err
	}()
	go func() {
		defer close(c.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			c.lines <- scanner.Text()
		}
	}()
	return c
}

func (c *client) close() {
	c.in.Close()
	for line := range c.lines {
		c.t.Errorf("more was said: %s", line)
	}
	require.NoError(c.t, <-c.ended)
}

// exchange sends a line, and reads until it is answered or the server asks something.
func (c *client) exchange(line string) (answers []string) {
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
	if !answered(line) {
		return nil
	}
	for {
		select {
		case answer, ok := <-c.lines:
			require.True(c.t, ok, "the server has ended")
			answers = append(answers, steady(answer))
			if kind, _ := kindOf(answer); kind != "notification" {
				return answers
			}
		case <-time.After(30 * time.Second):
			require.FailNow(c.t, "no answer", line)
		}
	}
}

// answered says whether something follows a line: not on a notification that nobody has to answer, or on nothing.
func answered(line string) bool {
	kind, method := kindOf(line)
	return strings.TrimSpace(line) != "" && (kind != "notification" || method == "")
}

func kindOf(line string) (kind, method string) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	switch err := json.Unmarshal([]byte(line), &m); {
	case err != nil:
		return "broken", ""
	case m.ID == nil:
		return "notification", m.Method
	case m.Method == "":
		return "answer", ""
	}
	return "request", m.Method
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
var times = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// steady takes out what differs each time: the ids of calls, and when an approval expires.
func steady(line string) string {
	return times.ReplaceAllString(ids.ReplaceAllString(line, "CALL"), "TIME")
}
