package recording

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"
)

// Version is that of the files that are written.
const Version = 1

// Bounds of a recording.
const (
	MaxFile   = 32 << 20 // bytes of a file
	maxBodies = 24 << 20 // bytes of all bodies, as they came
	maxRuns   = 1000
	maxAsked  = 10_000 // requests of a run
	seedSize  = 32
)

// file is a recording as it is written.
type file struct {
	Version int               `json:"hukilau_recording"`
	File    string            `json:"file,omitempty"`
	Environ map[string]string `json:"environ,omitempty"`
	Runs    runList           `json:"runs"`
}

type runEntry struct {
	Tool      string          `json:"tool"`
	Example   string          `json:"example,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Began     time.Time       `json:"began"`
	Seed      string          `json:"seed"`
	Clocks    clockList       `json:"clocks,omitempty"`
	HTTP      exchangeList    `json:"http,omitempty"`
	Models    questionList    `json:"models,omitempty"`
}

// exchange is one request over HTTP and what came of it: a response, a failure, or neither, when nobody waited for it.
type exchange struct {
	Method   string            `json:"method"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers,omitempty"` // a few, for people: they are not compared
	Digest   string            `json:"body_sha256,omitempty"`
	Body     *body             `json:"body,omitempty"` // where it is small: the digest is compared
	Response *response         `json:"response,omitempty"`
	Failure  *failure          `json:"failure,omitempty"`
}

type response struct {
	Status  int               `json:"status"`
	Headers map[string]values `json:"headers,omitempty"`
	Body    *body             `json:"body,omitempty"`
	// How the body ended, where it is not whole.
	End    ending   `json:"end,omitempty"`
	Broken *failure `json:"broken,omitempty"`
}

// ending says how an answer ended that is not whole, for another reason than a failure.
type ending string

const (
	left    ending = "left"    // the run wanted no more of it
	waiting ending = "waiting" // the run was over, or what waited for it was cancelled
)

func (e ending) check() error {
	if e != "" && e != left && e != waiting {
		return fmt.Errorf("end must be %q or %q", left, waiting)
	}
	return nil
}

// failure is an error of httpmod or of models.
type failure struct {
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	Retryable  bool    `json:"retryable,omitempty"`
	Reason     string  `json:"reason,omitempty"`
	Key        string  `json:"key,omitempty"`
	Host       string  `json:"host,omitempty"`
	Provider   string  `json:"provider,omitempty"`
	Status     int     `json:"status,omitempty"`
	RetryAfter float64 `json:"retry_after,omitempty"` // seconds
}

// The lists are read item by item, so that a file cannot ask for more memory than a few times its size.
type (
	runList      []*runEntry
	exchangeList []*exchange
	questionList []*question
	clockList    []*clockEntry
)

func (l *runList) UnmarshalJSON(text []byte) (err error) {
	*l, err = readList[runEntry](text, maxRuns, "runs")
	return err
}

func (l *exchangeList) UnmarshalJSON(text []byte) (err error) {
	*l, err = readList[exchange](text, maxAsked, "http")
	return err
}

func (l *questionList) UnmarshalJSON(text []byte) (err error) {
	*l, err = readList[question](text, maxAsked, "models")
	return err
}

func (l *clockList) UnmarshalJSON(text []byte) (err error) {
	*l, err = readList[clockEntry](text, maxAsked, "clocks")
	return err
}

type checked[T any] interface {
	*T
	check() error
}

// readList reads an array of at most so many entries, each of which must be whole.
func readList[T any, P checked[T]](text []byte, most int, name string) ([]*T, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil, fmt.Errorf("%s must be an array", name)
	}
	var list []*T
	for d.More() {
		place := fmt.Sprintf("%s[%d]", name, len(list))
		if len(list) == most {
			return nil, fmt.Errorf("%s has more than %d entries", name, most)
		}
		item := new(T)
		if err := d.Decode(item); err != nil {
			return nil, within(place, err)
		}
		if err := P(item).check(); err != nil {
			return nil, within(place, err)
		}
		list = append(list, item)
	}
	return list, nil
}

// placed is an error with the place where it is.
type placed struct {
	place string
	err   error
}

func (p *placed) Error() string {
	var deeper *placed
	if errors.As(p.err, &deeper) {
		return p.place + "." + p.err.Error()
	}
	return p.place + ": " + p.err.Error()
}

func (p *placed) Unwrap() error { return p.err }

func within(place string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field != "" {
			place += "." + wrong.Field
		}
		err = fmt.Errorf("it is a %s, where another kind of value is needed", wrong.Value)
	}
	return &placed{place, err}
}

func (f *file) read(text []byte) error {
	if len(text) > MaxFile {
		return fmt.Errorf("it has %d bytes, more than the %d of a recording", len(text), MaxFile)
	}
	if err := checkVersion(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(f)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("something follows its end")
		}
	}
	if err != nil {
		return fmt.Errorf("the recording is broken: %w; record it again with --record", unprefixed(err))
	}
	return nil
}

func unprefixed(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return within(wrong.Field, err)
	}
	return err
}

// Recognise says whether a text is a recording, of any version.
func Recognise(text []byte) bool {
	var head struct {
		Version json.RawMessage `json:"hukilau_recording"`
	}
	return json.Unmarshal(text, &head) == nil && head.Version != nil
}

func checkVersion(text []byte) error {
	var head struct {
		Version json.RawMessage `json:"hukilau_recording"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return fmt.Errorf("it is no recording: %w; `--record` writes one", unprefixed(err))
	}
	if head.Version == nil {
		return errors.New("it is JSON, but no recording: it has no hukilau_recording; `--record` writes one")
	}
	if string(head.Version) != fmt.Sprint(Version) {
		return fmt.Errorf("it is a recording of version %s, and this program reads version %d: record it again with --record",
			clipped(string(head.Version)), Version)
	}
	return nil
}

func (f *file) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if f.Runs == nil {
		f.Runs = runList{}
	}
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (e *runEntry) check() error {
	switch seed, err := hex.DecodeString(e.Seed); {
	case e.Tool == "":
		return errors.New("tool is missing")
	case len(e.Arguments) == 0:
		return errors.New("arguments are missing")
	case e.Began.IsZero() || e.Began.Year() < 1970 || e.Began.Year() > 9999:
		return errors.New("began must be a time of the years 1970 to 9999")
	case err != nil || len(seed) != seedSize:
		return fmt.Errorf("seed must be %d hexadecimal digits", 2*seedSize)
	}
	return nil
}

func (e *exchange) check() error {
	switch {
	case e.Method == "":
		return errors.New("method is missing")
	case e.URL == "":
		return errors.New("url is missing")
	case e.Response != nil && e.Failure != nil:
		return errors.New("there is a response beside a failure")
	}
	if _, err := url.Parse(e.URL); err != nil {
		return errors.New("url is no URL")
	}
	if e.Response == nil {
		return nil
	}
	if status := e.Response.Status; status < 200 || status > 999 {
		return fmt.Errorf("response.status must be from 200 to 999, not %d", status)
	}
	return e.Response.End.check()
}
