package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hukilau/hukilau/go/internal/models"
)

// ErrorOf is the failure that an answer tells of: its status, its headers (may be nil) and its body.
// It takes the shapes of all providers, and of what stands between.
func ErrorOf(provider string, status int, header http.Header, body []byte) *models.Error {
	told := read(body)
	if status == http.StatusOK && told.status != 0 {
		status = told.status
	}
	e := &models.Error{Provider: provider, Status: status, RetryAfter: retryAfter(header, time.Now())}
	if e.RetryAfter == 0 {
		e.RetryAfter = told.wait
	}
	e.Code, e.Retryable = codeOf(status, strings.ToLower(told.kind))
	e.Message = models.Clip(told.message)
	if e.Message == "" {
		e.Message = strings.TrimSpace("the server answered " + strconv.Itoa(status) + " " + http.StatusText(status))
	}
	return e
}

// failure is what a body says about itself.
type failure struct {
	message string
	kind    string // type and code, as words
	status  int
	wait    time.Duration
}

// read takes {"error": {...}}, {"error": "text"}, {"message": ...}, {"detail": ...}, a list of one
// of them, and plain text.
func read(body []byte) failure {
	var tree any
	if json.Unmarshal(body, &tree) != nil {
		return failure{message: string(body)}
	}
	if list, ok := tree.([]any); ok && len(list) > 0 {
		tree = list[0]
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return failure{message: string(body)}
	}
	inner, ok := object["error"].(map[string]any)
	if !ok {
		inner = object
	}
	f := failure{kind: words(inner["type"]) + " " + words(inner["code"]) + " " + words(inner["status"])}
	for _, key := range []string{"message", "error", "detail", "error_description"} {
		if text := words(inner[key]); text != "" {
			f.message = text
			break
		}
	}
	if f.message == "" && len(object) > 0 {
		f.message = string(body)
	}
	if code, ok := inner["code"].(float64); ok && code >= 400 && code < 600 {
		f.status = int(code)
	}
	reasons, wait := details(inner["details"])
	f.kind, f.wait = f.kind+reasons, wait
	return f
}

func words(v any) string {
	text, _ := v.(string)
	return text
}

// details finds the reasons and the wait among the details of Google's errors.
func details(list any) (reasons string, wait time.Duration) {
	items, _ := list.([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		reasons += " " + words(object["reason"])
		if d, err := time.ParseDuration(words(object["retryDelay"])); err == nil && d > 0 {
			wait = d
		}
	}
	return reasons, wait
}

// kinds are words in the type or code of an error, the first that is found decides.
var kinds = []struct {
	word      string
	code      models.Code
	retryable bool
}{
	{"billing", models.CodePermission, false},
	{"rate_limit", models.CodeRateLimited, true},
	{"resource_exhausted", models.CodeRateLimited, true},
	{"overloaded", models.CodeUpstream, true},
	{"timeout", models.CodeUpstream, true},
	{"authentication", models.CodePermission, false},
	{"unauthenticated", models.CodePermission, false},
	{"permission", models.CodePermission, false},
	{"invalid_api_key", models.CodePermission, false},
	{"not_found", models.CodeNotFound, false},
	{"invalid", models.CodeInvalidRequest, false},
	{"context_length", models.CodeInvalidRequest, false},
}

func codeOf(status int, kind string) (models.Code, bool) {
	switch {
	case strings.Contains(kind, "insufficient_quota"):
		return models.CodeRateLimited, false // it comes as 429, and waiting does not help
	case strings.Contains(kind, "api_key_invalid"):
		return models.CodePermission, false // it comes as 400
	}
	switch status {
	case http.StatusTooManyRequests:
		return models.CodeRateLimited, true
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return models.CodePermission, false
	case http.StatusNotFound:
		return models.CodeNotFound, false
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, 529:
		return models.CodeUpstream, true
	}
	if status >= 400 && status < 500 {
		return models.CodeInvalidRequest, false
	}
	for _, k := range kinds {
		if strings.Contains(kind, k.word) {
			return k.code, k.retryable
		}
	}
	return models.CodeUpstream, status < 500
}

// retryAfter reads the headers that say how long to wait.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}
