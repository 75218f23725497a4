package httpmod

import (
	"context"
	"net/url"
)

// Codes of an [Error]. They are stable: scripts compare them.
const (
	CodePermission = "permission"       // the policy does not grant the host; Key names the setting
	CodeTimeout    = "timeout"          // the request's own time, or the caller's deadline, is over
	CodeCancelled  = "cancelled"        // the caller gave up
	CodeLimit      = "limit"            // body too large, or too many redirects
	CodeMemory     = "memory"           // the caller's memory account refused the body
	CodeUpstream   = "upstream"         // look-up, connection, TLS or the answer itself failed
	CodeArgument   = "invalid_argument" // the request cannot be sent as it stands
)

// Reasons of an [Error] that is about TLS. They are stable as well.
const (
	ReasonName        = "certificate_name"          // the certificate is for other hosts
	ReasonExpired     = "certificate_expired"       // it was valid once
	ReasonNotYetValid = "certificate_not_yet_valid" // it will be valid, or a clock is wrong
	ReasonAuthority   = "certificate_authority"     // nobody who is trusted signed it
	ReasonInvalid     = "certificate_invalid"       // anything else about it
	ReasonTLSVersion  = "tls_version"               // the server speaks none of 1.2 and 1.3
	ReasonHandshake   = "tls_handshake"             // the server refused
	ReasonNotTLS      = "not_tls"                   // what answers is no TLS
)

// Error is every error this package returns from a request. It is read-only
// and may be shared.
type Error struct {
	Code      string
	Message   string // what went wrong and what to do, without method and URL
	Method    string // empty when the request was never understood
	URL       string // of the hop that failed; without user, query and fragment
	Key       string // for CodePermission: "net", "net_private" or "deny_net"
	Host      string // for CodePermission: what to add to Key, or what it denies
	Reason    string // of a CodeUpstream that is about TLS: one of the Reason constants
	Retryable bool   // the same request may succeed later; whether it may be repeated is the caller's to know
	cause     error
}

func (e *Error) Error() string {
	if e.URL == "" {
		return e.Message
	}
	return e.Method + " " + e.URL + ": " + e.Message
}

// Unwrap returns what the network or the caller reported, if anything.
func (e *Error) Unwrap() error { return e.cause }

// Is makes errors.Is answer for context.DeadlineExceeded and context.Canceled
// by the code, since the cause is often an error of the socket instead.
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.Code == CodeTimeout
	case context.Canceled:
		return e.Code == CodeCancelled
	}
	return false
}

// ErrorCode is the code as scripts see it.
func (e *Error) ErrorCode() string { return e.Code }

// ErrorFields is what scripts see beside code and message.
func (e *Error) ErrorFields() map[string]any {
	fields := map[string]any{"retryable": e.Retryable}
	for name, value := range map[string]string{"method": e.Method, "url": e.URL, "key": e.Key, "host": e.Host, "reason": e.Reason} {
		if value != "" {
			fields[name] = value
		}
	}
	return fields
}

// at returns e with method and URL filled in where they are missing.
func (e *Error) at(method string, u *url.URL) *Error {
	if e.URL != "" || u == nil {
		return e
	}
	c := *e
	c.Method, c.URL = method, shownURL(u)
	return &c
}

// shownURL leaves out the parts of a URL that often hold keys.
func shownURL(u *url.URL) string {
	const most = 300
	s := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}

func invalid(message string) *Error { return &Error{Code: CodeArgument, Message: message} }
