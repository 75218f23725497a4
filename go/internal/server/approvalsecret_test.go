package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Operators decide without seeing what stands under the name of a secret; the call runs with it.
func TestSecretsOfApprovals(t *testing.T) {
	f := approveTool(t, "deploy", `return { done = args.to.password }`)
	mine, theirs := bearer+token, bearer+operator
	id := f.do("POST", "/tools/deploy", `{"to":{"password":"userpw999"}}`, mine).tree(t)["call"].(string)
	for _, a := range []answer{
		f.do("GET", "/approvals?state=pending", "", theirs), f.do("GET", "/approvals/"+id, "", theirs),
		f.do("POST", "/approvals/"+id, `{"approve":true}`, theirs),
	} {
		require.Equal(t, 200, a.status)
		require.Contains(t, a.body, `"password":"[redacted]"`)
		require.NotContains(t, a.body, "userpw999")
	}
	require.Equal(t, map[string]any{"done": "userpw999"}, f.finished("/calls/"+id, mine).tree(t)["result"])
}
