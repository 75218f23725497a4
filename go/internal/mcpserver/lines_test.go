package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"
)

// Whatever comes in: each line is a message or is answered with an error, the last one is not lost, and what goes
// out is JSON, a message a line.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":null,"error":{}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`, "[]\n{}\n", strings.Repeat("x", 300), "{\"id\":1e400}", "\xff\n", `{"jsonrpc":"2.0","id":-0,"method":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const most = 200
		var out bytes.Buffer
		l := newLines(bytes.NewReader(in), &out, &Options{MaxMessage: most, MaxInFlight: 1000, Grace: time.Minute})
		taken := 0
		for {
			message, err := l.Read(context.Background())
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			require.NotNil(t, message)
			taken++
			if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
				require.NoError(t, l.Write(context.Background(), &jsonrpc.Response{ID: request.ID, Result: json.RawMessage("{}")}))
			}
		}
		require.NoError(t, l.Close())
		answered := 0
		for line := range strings.Lines(out.String()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				Result  json.RawMessage `json:"result"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &m), line)
			require.Equal(t, "2.0", m.Version)
			if m.Result == nil {
				answered++
			}
		}
		lines := 0
		for line := range bytes.Lines(in) {
			text := bytes.TrimSpace(line)
			if len(line) <= most {
				if _, _, wrong := messageOf(text); len(text) == 0 || wrong != nil && isAnswer(text) {
					continue // nothing is said to it
				}
			}
			lines++
		}
		require.Equal(t, lines, taken+answered)
	})
}

// What is found to be an answer is one.
func FuzzAnswerIn(f *testing.F) {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"a\",\"result\"","error":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"m","params":{"id":1,"result":2}}`, `{"jsonrpc":"2.0","id":`,
	} {
		f.Add("event: message\ndata: " + message + "\n\n")
	}
	f.Fuzz(func(t *testing.T, event string) {
		message, ok := answerIn([]byte(event))
		if !ok || !json.Valid(message) {
			return // the SDK writes JSON only
		}
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(message, &m))
		require.Contains(t, m, "id")
		require.True(t, m["result"] != nil || m["error"] != nil)
	})
}

func TestAnswerIn(t *testing.T) {
	for message, answer := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                            true,
		`{"jsonrpc":"2.0","id":"\",\"method\"","error":{"code":1}}`:       true,
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`:          false,
		`{"jsonrpc":"2.0","method":"x","params":{"id":1,"result":"\n"}}`:  false,
		`{"jsonrpc":"2.0","id":"x,\"result\":","method":"x","params":{}}`: false,
	} {
		_, ok := answerIn([]byte("event: message\ndata: " + message + "\n\n"))
		require.Equal(t, answer, ok, message)
	}
	_, ok := answerIn([]byte(": ok\n\n"))
	require.False(t, ok)
}
