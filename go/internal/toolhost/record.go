package toolhost

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/redact"
	"github.com/hukilau/hukilau/go/internal/store"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// record writes the call to the execution log, and one line to the operator's.
func (c *call) record(answer *Answer, failed *Error) {
	o := &c.host.options
	took := o.Now().Sub(c.began)
	if c.runner != nil {
		c.runner.counters.count(failed, took)
	}
	args := c.argsText()
	shown := c.shown(args)
	status := "ok"
	if failed != nil {
		status = string(failed.Code)
	}
	if o.Logger.Enabled(context.Background(), slog.LevelInfo) {
		attrs := []slog.Attr{
			slog.String("tool", c.req.Tool), slog.String("call", c.id), slog.String("caller", c.req.Caller.Name),
			slog.String("face", c.req.Caller.Face), slog.String("status", status), slog.Duration("took", took),
		}
		if failed != nil {
			attrs = append(attrs, slog.String("error", shown(whole(failed))))
		}
		o.Logger.LogAttrs(context.Background(), slog.LevelInfo, "call", attrs...)
	}
	if o.Store == nil || c.tool == nil {
		return
	}
	hostCalls, dropped := c.hostCalls()
	entry := store.Entry{
		ID: c.id, Time: c.began, Duration: took, Tool: c.tool.Name, Version: c.tool.Hash, Face: c.req.Caller.Face,
		Caller: c.req.Caller.Name, Status: status, Arguments: payload(args, shown), HostCalls: hostCalls, HostCallsDropped: dropped,
	}
	switch {
	case c.parent != nil:
		entry.Parent = c.parent.id
	case c.claimed != "":
		entry.Parent = c.claimed
	}
	usage := c.usage()
	entry.TokensIn, entry.TokensOut = usage.InputTokens, usage.OutputTokens
	if failed == nil {
		entry.Result = payload(answer.JSON, shown)
	} else {
		entry.Error = &store.Failure{Code: string(failed.Code), Message: shown(failed.Error()), Detail: shown(whole(failed))}
	}
	if err := o.Store.Log.Record(context.Background(), entry); err != nil {
		o.Logger.Error("the execution log cannot be written", slog.String("call", c.id), slog.String("error", err.Error()))
	}
}

// whole is the error with its traceback: for the operator, never for a client.
func whole(failed *Error) string {
	message := failed.Error()
	if script := ScriptError(failed); script != nil {
		if trace := script.Traceback(); trace != "" {
			return message + "\n" + trace
		}
	}
	return message
}

// ScriptError is what a script failed with, with a traceback of the script's own frames: those below it, of the host,
// are left out. It is a copy, and nil where the call failed otherwise.
func ScriptError(failed *Error) *luau.Error {
	var script *luau.Error
	if !errors.As(failed.cause, &script) {
		return nil
	}
	return ownPlace(script)
}

func (c *call) argsText() []byte {
	if c.args == nil || c.asSent && len(c.req.Args) > 0 {
		return c.req.Args
	}
	text, err := jsonvalue.Encode(c.args)
	if err != nil {
		return c.req.Args
	}
	return text
}

// longestSecret is how long a secret may be that is found where the log cuts a text.
const longestSecret = 16 << 10

// payload is a JSON text for the log, which cuts it, without secrets and what stands under names of secrets. Of a long one only the beginning is looked at, and of that
// what may be the beginning of a secret is left out.
func payload(text []byte, shown func(string) string) store.Payload {
	if len(text) <= store.MaxLogText+longestSecret {
		return store.Payload{Text: shown(string(redact.Keys(text)))}
	}
	begin := shown(string(redact.Keys(text[:store.MaxLogText+longestSecret])))
	return store.Payload{Text: begin[:max(len(begin)-longestSecret, 0)], Size: len(text)}
}

// maxOwnSecrets is how many secrets of its arguments are looked for in what is logged of a call.
const maxOwnSecrets = 100

// shown takes secrets out of what is logged of the call: also those of its arguments, which a tool may say in an
// error.
func (c *call) shown(args []byte) func(string) string {
	if !redact.HasKeys(args) {
		return c.host.options.Redact
	}
	secrets := slices.DeleteFunc(redact.Secrets(c.args), func(text string) bool { return len(text) > longestSecret })
	own := redact.New(secrets[:min(len(secrets), maxOwnSecrets)])
	return func(text string) string { return own.Text(c.host.options.Redact(text)) }
}

// hostCalls are those that have ended, and how many more there were. Of a run that was ended some may still end.
func (c *call) hostCalls() (calls []store.HostCall, more int) {
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	for _, w := range c.told.waits {
		made := store.HostCall{Name: w.Function, Duration: w.Took}
		if w.Err != nil {
			made.Error = c.host.options.Redact(w.Err.Error())
		}
		calls = append(calls, made)
	}
	return calls, c.told.more
}
