package fsmod

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/hukilau/hukilau/go/pkg/luau"
)

// The codes of errors, beside memory and limit.
const (
	codeNotFound   = "not_found"
	codePermission = "permission"
	codeExists     = "exists"
	codeIO         = "io"
	codeArgument   = string(luau.CodeArgument)
)

// fault is an error of a file operation as scripts see it.
type fault struct {
	code    string
	message string
	path    string // as the script gave it
	key     string // for codePermission: the grant that is missing
	cause   error
}

func (f *fault) Error() string { return f.message }

func (f *fault) Unwrap() error { return f.cause }

// ErrorCode is the code as scripts see it.
func (f *fault) ErrorCode() string { return f.code }

// ErrorFields is what scripts see beside code and message.
func (f *fault) ErrorFields() map[string]any {
	fields := map[string]any{}
	if f.path != "" {
		fields["path"] = f.path
	}
	if f.key != "" {
		fields["key"] = f.key
	}
	return fields
}

func invalid(message string) *fault { return &fault{code: codeArgument, message: message} }

// explain says in the words of scripts what the function was doing at which path when err came.
func explain(function, path string, err error) error {
	if err == nil {
		return nil
	}
	if ended(err) {
		return err
	}
	f := faultOf(err)
	if f.path != "" {
		path = f.path
	}
	return &fault{code: f.code, message: function + ": " + shown(path) + ": " + f.message, path: path, key: f.key, cause: err}
}

// named says which path an error is about.
func named(path string, err error) error {
	if ended(err) {
		return err
	}
	f := *faultOf(err)
	f.path = path
	return &f
}

// ended says whether err is that of a context.
func ended(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// shown is a path in a message, which should stay one line.
func shown(path string) string {
	const most = 200
	if len(path) > most {
		path = strings.ToValidUTF8(path[:most], "") + "..." // the cut may be within a character
	}
	quoted := strconv.Quote(path)
	if quoted[1:len(quoted)-1] == path {
		return path
	}
	return quoted
}

// known are the system's errors that have a meaning of their own here.
var known = []struct {
	err           error
	code, message string
}{
	{syscall.ENOTEMPTY, codeExists, "the directory is not empty; recursive = true removes what is in it"},
	{fs.ErrNotExist, codeNotFound, "no such file or directory"},
	{syscall.ENOTDIR, codeNotFound, "a part of the path is not a directory"},
	{fs.ErrExist, codeExists, "something of this name is there already"},
	{syscall.EROFS, codePermission, "the file system is read-only"},
	{fs.ErrPermission, codePermission, "the operating system does not allow it"},
	{syscall.EISDIR, codeArgument, "is a directory"},
	{syscall.ENAMETOOLONG, codeArgument, "the path or a name in it is too long"},
	{syscall.EINVAL, codeArgument, "not possible with this path"},
	{syscall.ENXIO, codeArgument, "is not a file"},
	{syscall.ELOOP, codeIO, "too many links, or links in a circle"},
	{syscall.EXDEV, codeIO, "the two paths are on different file systems; copy and remove"},
	{syscall.EMFILE, string(luau.CodeLimit), "this process has too many files open"},
	{syscall.ENFILE, string(luau.CodeLimit), "this machine has too many files open"},
	{syscall.ENOSPC, codeIO, "no space left on the disk"},
	{fs.ErrClosed, codeIO, "the run is over"},
}

func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return &fault{code: k.code, message: k.message}
		}
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return &fault{code: codeIO, message: number.Error()}
	}
	// An os.Root has no error value to compare with for this: it is what is left of a file's errors.
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		return &fault{code: codePermission, message: "a link on the way leads out of the granted directory"}
	}
	return &fault{code: codeIO, message: err.Error()}
}
