package httpmod

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// answers is an HTTP/2 server that says what it likes to a request, and closes the connection.
func answers(t *testing.T, answer func(f *http2.Framer, stream uint32) error) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, conn *tls.Conn, _ http.Handler) {
			_, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
			f := http2.NewFramer(conn, conn)
			for err == nil {
				var frame http2.Frame
				frame, err = f.ReadFrame()
				switch frame := frame.(type) {
				case *http2.SettingsFrame:
					if !frame.IsAck() {
						err = f.WriteSettings()
					}
				case *http2.HeadersFrame:
					assert.NoError(t, answer(f, frame.StreamID))
					return
				}
			}
		},
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestProtocolErrors(t *testing.T) {
	reset := func(code http2.ErrCode) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, stream uint32) error { return f.WriteRSTStream(stream, code) }
	}
	goAway := func(last uint32, code http2.ErrCode) func(*http2.Framer, uint32) error {
		return func(f *http2.Framer, _ uint32) error { return f.WriteGoAway(last, code, nil) }
	}
	for name, row := range map[string]struct {
		answer    func(*http2.Framer, uint32) error
		message   string
		retryable bool
	}{
		"reset":             {reset(http2.ErrCodeInternal), "the server broke the answer off", true},
		"too many requests": {reset(http2.ErrCodeEnhanceYourCalm), "the server broke the answer off: it finds the requests too many", true},
		"weak encryption":   {reset(http2.ErrCodeInadequateSecurity), "the server broke the answer off: it wants better encryption", true},
		"older protocol":    {reset(http2.ErrCodeHTTP11Required), "the server broke the answer off: it wants HTTP/1.1", true},
		"ended":             {goAway(1, http2.ErrCodeInternal), "the server ended the connection", true},
		"ended before":      {goAway(0, http2.ErrCodeInternal), "the server ended the connection", true},
		"too large": {goAway(1, http2.ErrCodeEnhanceYourCalm),
			"the server ended the connection: it finds the request too large, or the requests too many", true},
		"broken rules": {func(f *http2.Framer, _ uint32) error {
			return f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 0, nil)
		}, "the server broke the rules of HTTP/2", false},
		"no status": {func(f *http2.Framer, stream uint32) error {
			var head bytes.Buffer
			_ = hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "7"})
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndHeaders: true, EndStream: true})
		}, `the server answers with a status that is none, "7 "`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := answers(t, row.answer)
			_, err := get(t, tlsClient(t, s, Options{}), s.URL)
			e := failure(t, err, CodeUpstream)
			assert.Equal(t, row.message, e.Message, e.cause)
			assert.Equal(t, row.retryable, e.Retryable)
		})
	}
}

func TestHugeHeadOfHTTP2IsRefused(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range []string{"X-Large", "X-Larger", "X-Largest"} {
			w.Header().Set(name, strings.Repeat("x", 100<<10))
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	_, err := get(t, tlsClient(t, s, Options{}), s.URL)
	assert.Equal(t, "the header of the answer is over the limit of 262144 bytes", failure(t, err, CodeLimit).Message)
}
