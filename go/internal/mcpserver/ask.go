package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hukilau/hukilau/go/internal/jsonvalue"
	"github.com/hukilau/hukilau/go/internal/schema"
	"github.com/hukilau/hukilau/go/internal/spelling"
	"github.com/hukilau/hukilau/go/internal/toolhost"
	"github.com/hukilau/hukilau/go/internal/visible"
	"github.com/hukilau/hukilau/go/pkg/luau"
)

// asking asks the client's user, and waits for what they say.
type asking func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error)

// canAsk says whether the client can show its user a form: as its request says, or else its session.
func canAsk(req *mcp.CallToolRequest) bool {
	// In place of ClientCapabilities, which decodes all of them anew for each request.
	if said, ok := req.Params.GetMeta()[mcp.MetaKeyClientCapabilities].(map[string]any); ok {
		can, ok := said["elicitation"].(map[string]any)
		return ok && (can["form"] != nil || can["url"] == nil)
	}
	began := req.Session.InitializeParams()
	if began == nil || began.Capabilities == nil || began.Capabilities.Elicitation == nil {
		return false
	}
	can := began.Capabilities.Elicitation
	return can.Form != nil || can.URL == nil // neither: from before there were two kinds
}

// sessionAsk asks by a request to the client, within the answer to its own.
func (s *Server) sessionAsk(request context.Context, client peer) asking {
	return func(ctx context.Context, question *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		// What is sent to the client finds its way by the request's context.
		to, cancel := context.WithTimeoutCause(request, s.options.AskTime, errNoAnswer)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		said := &said{}
		answer, err := client.Elicit(context.WithValue(to, saidKey{}, said), question)
		switch {
		case err != nil && said.answer != nil:
			return said.answer, nil // whoever asked looks at it, as in the revisions without sessions
		case err != nil && context.Cause(to) == errNoAnswer:
			return nil, errNoAnswer
		}
		return answer, err
	}
}

// said is what a client answered to a question, before the SDK holds it against the question's schema: an answer that
// does not fit is an error of another kind than none.
type said struct{ answer *mcp.ElicitResult }

type saidKey struct{}

// keeping notes answers of clients where their context asks for it.
func keeping(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if answer, ok := result.(*mcp.ElicitResult); ok && err == nil {
			if kept, ok := ctx.Value(saidKey{}).(*said); ok {
				kept.answer = answer
			}
		}
		return result, err
	}
}

var errNoAnswer = &luau.Error{Code: luau.CodeTimeout, Message: "the client's user did not answer in time"}

// notAvailable is the code of errors about what a client cannot do.
const notAvailable = "not_available"

// muteSink is the sink of a client that cannot ask its user.
type muteSink struct {
	*sink
	wanted atomic.Bool // the tool tried
}

// Elicit implements toolhost.Elicitor.
func (m *muteSink) Elicit(context.Context, string, []byte) ([]byte, error) {
	m.wanted.Store(true)
	return nil, &luau.Error{Code: notAvailable, Message: "ctx.elicit: this client cannot ask its user"}
}

var (
	_ toolhost.Elicitor = (*askingSink)(nil)
	_ toolhost.Approver = (*askingSink)(nil)
)

// askingSink is the sink of a client that can ask its user.
type askingSink struct {
	*sink
	server *Server
	ask    asking
}

// Elicit implements toolhost.Elicitor. The answer is {"action": "accept" | "decline" | "cancel", "content": {...}},
// with content only where the user accepted.
func (a *askingSink) Elicit(ctx context.Context, message string, wanted []byte) ([]byte, error) {
	form, err := formOf(wanted)
	if err != nil {
		return nil, &luau.Error{Code: "invalid_argument", Message: "ctx.elicit: argument 2 must be a JSON Schema: " + err.Error()}
	}
	question := &mcp.ElicitParams{Mode: "form", Message: a.server.options.Redact(message), RequestedSchema: json.RawMessage(wanted)}
	answer, err := a.ask(ctx, question)
	if err != nil {
		return nil, elicitFailed(err)
	}
	return checkedAnswer(form, answer)
}

// mostFaults is how many faults of an answer are told.
const mostFaults = 5

// checkedAnswer is what the user said, if that is an answer to the question.
func checkedAnswer(form *schema.Schema, answer *mcp.ElicitResult) ([]byte, error) {
	told := map[string]any{"action": answer.Action}
	switch answer.Action {
	case "accept":
		content := map[string]any{}
		if answer.Content != nil {
			content = answer.Content
		}
		completed := form.Defaults(content)
		if wrong := form.Validate(completed); len(wrong) > 0 {
			var faults []string
			for _, fault := range wrong[:min(len(wrong), mostFaults)] {
				faults = append(faults, strings.TrimPrefix(fault.Pointer+": "+fault.Message, ": "))
			}
			return nil, invalidAnswer("the answer does not fit the schema that was asked for: " + strings.Join(faults, "; "))
		}
		told["content"] = completed
	case "decline", "cancel":
	default:
		return nil, invalidAnswer(fmt.Sprintf("the client answered with the action %.40q, which is none of accept, decline and cancel", answer.Action))
	}
	return jsonvalue.Encode(told)
}

// invalidAnswer is about a client that asked its user, or could have, and did not do it well.
func invalidAnswer(message string) error {
	return &luau.Error{Code: "invalid_answer", Message: "ctx.elicit: " + message}
}

func formOf(wanted []byte) (*schema.Schema, error) {
	doc, err := jsonvalue.Decode(wanted, jsonvalue.Options{})
	if err != nil {
		return nil, err
	}
	return schema.Compile(doc, "the answer")
}

// elicitFailed is an error of the client, as a script sees it.
func elicitFailed(err error) error {
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code == jsonrpc.CodeInvalidParams {
		// So clients say that what their user answered does not fit, and that they cannot show such a form.
		return invalidAnswer("the client refused the question, or its user's answer: " + clipped(refused.Message))
	}
	if failed, ok := err.(*luau.Error); ok {
		return &luau.Error{Code: failed.Code, Message: "ctx.elicit: " + failed.Message}
	}
	return &luau.Error{Code: notAvailable, Message: "ctx.elicit: the client cannot ask its user: " + clipped(err.Error())}
}

// clipped is what a client said, where it becomes part of an error.
func clipped(text string) string { return spelling.Clip(strings.ToValidUTF8(text, ""), 500) }

// mostShown is how many bytes of arguments a user is shown. Nobody approves what they have not seen: longer ones
// are left to an operator.
const mostShown = 8 << 10

// approvalForm is what a user is asked for an approval.
var approvalForm = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Run it","default":false}},"required":["approve"]}`)

// askWhether asks the client's user whether a call may run. decided is false where they leave it to an operator.
func askWhether(ctx context.Context, tool string, needs *toolhost.Error, ask asking) (approved, decided bool) {
	data, _ := needs.Data.(map[string]any)
	shown, err := jsonvalue.Indent(data["arguments"])
	if approvalOf(needs) == "" || err != nil || len(shown) > mostShown {
		return false, false
	}
	answer, err := ask(ctx, &mcp.ElicitParams{
		Mode: "form", RequestedSchema: approvalForm,
		Message: fmt.Sprintf("The tool '%s' needs your approval%s to run with these arguments:\n%s", tool, because(data), visible.Text(string(shown))),
	})
	if err != nil || answer.Action == "cancel" {
		return false, false
	}
	approved, said := answer.Content["approve"].(bool)
	if answer.Action == "accept" && !said {
		return false, false
	}
	return approved && answer.Action == "accept", true
}

// waitsItself says whether it is the call of a tool that waits, not one within it: of that the user was asked already.
func waitsItself(failed *toolhost.Error, tool string) bool {
	data, _ := failed.Data.(map[string]any)
	return failed.Code == toolhost.NeedsApproval && data["tool"] == tool
}

// because is why a call needs an approval, where somebody has said it.
func because(data map[string]any) string {
	if why, _ := data["reason"].(string); why != "" {
		return " (" + visible.Line(why) + ")"
	}
	return ""
}

// Approve implements toolhost.Approver.
func (a *askingSink) Approve(ctx context.Context, tool string, needs *toolhost.Error) (approved, decided bool) {
	if a.server.options.OperatorApproves {
		return false, false
	}
	return askWhether(ctx, tool, needs, a.ask)
}

// approver is who decided, in the log of approvals.
const approver = "mcp user"

// askApproval asks the client's user for what the call needs, and runs it where they approve. A user who does not
// decide leaves it to an operator.
func (s *Server) askApproval(ctx context.Context, request toolhost.Request, needs *toolhost.Error, ask asking) (*toolhost.Answer, *toolhost.Error) {
	id := approvalOf(needs)
	approved, decided := askWhether(ctx, request.Tool, needs, ask)
	if !decided {
		return nil, needs
	}
	if failed := s.host.DecideApproval(ctx, id, approved, approver); failed != nil {
		return nil, failed
	}
	if !approved {
		return nil, &toolhost.Error{
			Code: toolhost.Permission, Detail: "denied", ID: needs.ID,
			Message: fmt.Sprintf("the user did not approve the call of the tool '%s'", request.Tool),
		}
	}
	request.Approval = id
	return s.host.Call(ctx, request)
}
