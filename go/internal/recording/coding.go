package recording

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

// coded says whether bodies with this Content-Encoding are kept without it, so that people can read them and
// secrets are found in them.
func coded(coding string) bool {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "gzip", "x-gzip", "deflate":
		return true
	}
	return false
}

// decoded undoes a coding. A body that was not read to its end gives what can be had of it.
func decoded(coding string, data []byte) ([]byte, error) {
	if !coded(coding) || len(data) == 0 {
		return data, nil
	}
	var r io.Reader
	var err error
	switch {
	case strings.EqualFold(strings.TrimSpace(coding), "deflate"):
		if r, err = zlib.NewReader(bytes.NewReader(data)); err != nil {
			r, err = flate.NewReader(bytes.NewReader(data)), nil
		}
	default:
		r, err = gzip.NewReader(bytes.NewReader(data))
	}
	if err != nil {
		return nil, fmt.Errorf("an answer is not what its Content-Encoding says, and cannot be recorded: %w", err)
	}
	plain, _ := io.ReadAll(io.LimitReader(r, maxBodies+1)) // an error is the end of what was read
	if len(plain) > maxBodies {
		return nil, fmt.Errorf("an answer has more than %d bytes when it is unpacked, which are too many for a recording", maxBodies)
	}
	return plain, nil
}

// encoded does the coding again.
func encoded(coding string, data []byte) []byte {
	if !coded(coding) {
		return data
	}
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if strings.EqualFold(strings.TrimSpace(coding), "deflate") {
		w = zlib.NewWriter(&out)
	}
	_, _ = w.Write(data) // memory takes all
	_ = w.Close()
	return out.Bytes()
}
