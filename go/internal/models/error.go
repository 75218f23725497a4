package models

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Code says what kind of failure an Error is. The values are stable.
type Code string

// The codes.
const (
	CodeUpstream       Code = "upstream"        // the provider failed, or said what nobody understands
	CodeRateLimited    Code = "rate_limited"    // too many requests, or the quota is used up
	CodeTimeout        Code = "timeout"         // the deadline passed
	CodeInvalidRequest Code = "invalid_request" // the provider refuses the request as it is
	CodePermission     Code = "permission"      // the key is missing, wrong, or not for this
	CodeNotFound       Code = "not_found"       // no such model or address
	CodeTooLarge       Code = "too_large"       // an answer beyond the bounds
	CodeLimit          Code = "limit"           // a limit of the run: tokens, turns
	CodeInvalidOutput  Code = "invalid_output"  // no answer of the asked form after all repairs
)

// maxMessage is how much of what a provider says an Error keeps, in bytes.
const maxMessage = 500

// Error is a failure to get an answer. It carries no key, and never a whole body.
type Error struct {
	Code       Code
	Message    string
	Provider   string        // as "openai"; empty when the failure is the host's own
	Model      string        // as the configuration calls it; empty where nobody said
	Status     int           // of HTTP; 0: none came
	Retryable  bool          // the same request may succeed later
	RetryAfter time.Duration // what the provider asks to wait; 0: it did not say
	Cause      error
}

// Error gives the model, or else the provider, and the message in one line.
func (e *Error) Error() string {
	switch {
	case e.Model != "":
		return "model " + e.Model + ": " + e.Message
	case e.Provider != "":
		return e.Provider + ": " + e.Message
	}
	return e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorFields is what scripts see beside code and message.
func (e *Error) ErrorFields() map[string]any {
	fields := map[string]any{"retryable": e.Retryable}
	if e.Provider != "" {
		fields["provider"] = e.Provider
	}
	if e.Model != "" {
		fields["model"] = e.Model
	}
	if e.Status != 0 {
		fields["status"] = float64(e.Status)
	}
	if e.RetryAfter > 0 {
		fields["retry_after"] = e.RetryAfter.Seconds()
	}
	return fields
}

// Clip is text on one line, cut to what an Error may carry, at a character.
func Clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + " ..."
}
