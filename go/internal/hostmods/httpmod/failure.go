package httpmod

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// overdue is the cause with which a request's own timer cancels its context.
type overdue struct{ message string }

func (o *overdue) Error() string { return o.message }

func (o *overdue) Is(target error) bool { return target == context.DeadlineExceeded }

func noAnswerWithin(d time.Duration) *overdue {
	return &overdue{"no complete answer within " + d.String() + "; raise the timeout if the server is slow"}
}

// Failure is the error that a request of ctx ends with, by what a sender under Options.Wrap says of it.
func Failure(ctx context.Context, err error) *Error { return asError(ctx, err) }

// asError turns whatever a request died of into an *Error. The context is asked
// before the network is, because a cancelled request fails with any
// error the socket happened to give.
func asError(ctx context.Context, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if ctx.Err() != nil {
		return contextError(context.Cause(ctx))
	}
	return networkError(err)
}

func contextError(cause error) *Error {
	if o, ok := errors.AsType[*overdue](cause); ok {
		return &Error{Code: CodeTimeout, Message: o.message, Retryable: true, cause: cause}
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Message: "the caller's deadline passed", cause: cause}
	}
	return &Error{Code: CodeCancelled, Message: "the request was cancelled", cause: cause}
}

func networkError(err error) *Error {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dnsError(dns, err)
	}
	if e := tlsError(err); e != nil {
		return e
	}
	if message, ok := decodingMessage(err); ok {
		return upstream(message, false, err)
	}
	if message, ok := socketMessage(err); ok {
		return upstream(message, true, err)
	}
	if e := protocolError(err); e != nil {
		return e
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return &Error{Code: CodeTimeout, Message: "connecting took too long", Retryable: true, cause: err}
	}
	return upstream(innermost(err).Error(), false, err)
}

func upstream(message string, retryable bool, cause error) *Error {
	return &Error{Code: CodeUpstream, Message: message, Retryable: retryable, cause: cause}
}

func dnsError(dns *net.DNSError, err error) *Error {
	name := strconv.Quote(dns.Name)
	switch {
	case dns.IsNotFound:
		return upstream("no such host "+name, false, err)
	case dns.IsTimeout:
		return &Error{Code: CodeTimeout, Message: "looking up " + name + " took too long", Retryable: true, cause: err}
	}
	return upstream("looking up "+name+" failed", true, err)
}

func decodingMessage(err error) (string, bool) {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	for _, known := range []error{gzip.ErrHeader, gzip.ErrChecksum, zlib.ErrHeader, zlib.ErrChecksum, zlib.ErrDictionary} {
		corrupt = corrupt || errors.Is(err, known)
	}
	if _, ends := errors.AsType[*cutOff](err); ends {
		return err.Error(), true
	}
	return "the body is not what its Content-Encoding says", corrupt
}

func socketMessage(err error) (string, bool) {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: no server listens there; check host and port, and that it runs", true
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return "the connection was broken off", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "the host cannot be reached from here", true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "this process has too many connections open", true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection before its answer was complete", true
	}
	return "", false
}

// innermost drops the wrappers that repeat addresses the script need not see.
func innermost(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		err = op.Err
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}
