package config

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hukilau/hukilau/go/internal/units"
)

const gateway = `
[gateway]
face = "both"
check = "warn"
max_calls = 50
concurrency = 4
timeout = "20s"
memory = "32MiB"
max_result = 1000
max_bytes = "1MiB"
resources = false
prompts = true
samples = false
save_scripts = true
saved = "kept"

[[gateway.policy]]
match = "github.delete_*"
action = "deny"
reason = "Nobody deletes repositories from a script."

[[gateway.policy]]
match = ["bank.*", "billing.charge"]
args = { "/amount" = { max = 100.5 }, "/currency" = { in = ["EUR", "USD"] } }
action = "allow"
rate = "10/m"

[[gateway.policy]]
annotation = "destructive"
action = "approve"

[[gateway.policy]]
match = "*"
rate = "100/s"

[[gateway.policy]]
action = "deny"
[gateway.policy.args."/path"]
matches = "/etc/.*"
equals = "/etc/passwd"
`

func TestGateway(t *testing.T) {
	g := parse(t, gateway).Gateway
	for i := range g.Policy {
		for pointer, c := range g.Policy[i].Args {
			c.Matches = nil
			g.Policy[i].Args[pointer] = c
		}
	}
	assert.Equal(t, Gateway{
		Face: BothFaces, Check: CheckWarn, MaxCalls: 50, Concurrency: 4, Timeout: 20 * time.Second, Memory: 32 << 20, MaxResult: 1000, MaxBytes: 1 << 20,
		NoResources: true, NoSamples: true, SaveScripts: true, Saved: "/srv/tools/kept",
		Policy: []Rule{
			{Match: []Pattern{"github.delete_*"}, Action: Deny, Reason: "Nobody deletes repositories from a script.", Line: 17},
			{
				Match: []Pattern{"bank.*", "billing.charge"}, Action: Allow, Rate: units.Rate{Count: 10, Per: time.Minute}, Line: 22,
				Args: map[string]Condition{"/amount": {Max: 100.5, MaxIsSaid: true}, "/currency": {In: []any{"EUR", "USD"}}},
			},
			{Annotation: Destructive, Action: Approve, Line: 28},
			{Match: []Pattern{"*"}, Rate: units.Rate{Count: 100, Per: time.Second}, Line: 32},
			{Action: Deny, Line: 36, Args: map[string]Condition{"/path": {Equals: "/etc/passwd"}}},
		},
	}, g)
	assert.Equal(t, Gateway{}, parse(t, "").Gateway)
}

func TestGatewayErrors(t *testing.T) {
	rule := "[[gateway.policy]]\n"
	for text, want := range map[string]string{
		"[gateway]\nface='skd'":           `hukilau.toml:2:1: gateway.face must be one of sdk, proxy, both (did you mean "sdk"?)`,
		"[gateway]\ncheck='on'":           "hukilau.toml:2:1: gateway.check must be one of off, warn, error",
		"[gateway]\nmax_calls=0":          "gateway.max_calls must be a whole number of at least 1",
		"[gateway]\nconcurrency='many'":   "gateway.concurrency must be a whole number, not a string",
		"[gateway]\ntimeout='x'":          `gateway.timeout "x" is no duration`,
		"[gateway]\nmemory='x'":           `gateway.memory "x" is no size`,
		"[gateway]\nmax_result='50KB'":    "gateway.max_result must be a whole number, not a string",
		"[gateway]\nmax_bytes=-1":         "gateway.max_bytes",
		"[gateway]\nresources='no'":       "gateway.resources must be true or false, not a string",
		"[gateway]\nprompts=1":            "gateway.prompts must be true or false, not a number",
		"[gateway]\nsamples=[]":           "gateway.samples must be true or false, not an array",
		"[gateway]\nsave_scripts=1":       "gateway.save_scripts must be true or false, not a number",
		"[gateway]\nsaved=1":              "gateway.saved must be a string, not a number",
		"[gateway]\nsave=true":            `gateway has no key "save" (did you mean "saved"?)`,
		"[gateway.policy]\nmatch='*'":     "hukilau.toml:1:10: gateway.policy must be a list of tables, as [[gateway.policy]], not a table",
		"[gateway]\npolicy=['a']":         "hukilau.toml:2:9: gateway.policy.0 must be a table, not a string",
		rule + "action='deny'":            `hukilau.toml:1:11: gateway.policy.0 needs match, annotation or args`,
		rule + "match='*'":                "hukilau.toml:1:11: gateway.policy.0 needs action: one of allow, approve, deny",
		rule + "match='*'\naction='alow'": `hukilau.toml:3:1: gateway.policy.0.action must be one of allow, approve, deny (did you mean "allow"?)`,
		rule + "match='*'\naction='deny'\n" + rule + "match='delete'\naction='deny'": `hukilau.toml:5:1: gateway.policy.1.match has "delete", which fits nothing: write source.function`,
		rule + "match=''\naction='deny'":                                             "gateway.policy.0.match has an empty pattern",
		rule + "match=1\naction='deny'":                                              "gateway.policy.0.match must be a list of strings, not a number",
		rule + "annotation='destroys'\naction='deny'":                                "gateway.policy.0.annotation must be one of destructive, read_only, not_read_only, open_world",
		rule + "match='*'\naction='deny'\nrate='1/m'":                                "gateway.policy.0.rate has no meaning where the action is deny",
		rule + "match='*'\naction='allow'\nrate='fast'":                              `gateway.policy.0.rate "fast" is no rate`,
		rule + "match='*'\naction='allow'\nreson='fast'":                             `gateway.policy.0 has no key "reson" (did you mean "reason"?)`,
		rule + "action='allow'\nargs={}":                                             "gateway.policy.0 needs match, annotation or args",
		rule + "action='allow'\nargs={amount={max=1}}":                               `hukilau.toml:3:7: gateway.policy.0.args.amount must be a JSON pointer to an argument, as "/amount"`,
		rule + "action='allow'\nargs={'/a~'={max=1}}":                                `has a "~" that is neither`,
		rule + "action='allow'\nargs={'/a~2'={max=1}}":                               `has a "~" that is neither`,
		rule + "action='allow'\nargs={'/a'=1}":                                       `gateway.policy.0.args."/a" must be a table, as { equals = 1 }`,
		rule + "action='allow'\nargs={'/a'={}}":                                      `gateway.policy.0.args."/a" needs a condition: one of equals, matches, in, max`,
		rule + "action='allow'\nargs={'/a'={min=1}}":                                 `gateway.policy.0.args."/a" has no key "min" (did you mean "in"?)`,
		rule + "action='allow'\nargs={'/a'={max='1'}}":                               `args."/a".max must be a number, not a string`,
		rule + "action='allow'\nargs={'/a'={in='1'}}":                                `args."/a".in must be a list, not a string`,
		rule + "action='allow'\nargs={'/a'={matches='('}}":                           "args.\"/a\".matches is no regular expression: missing closing ): `(`",
		rule + "action='allow'\nargs={'/a'={matches='\\Qa'}}":                        `is not complete in itself`,
		rule + "action='allow'\nargs={'/a'={matches='a)|(b'}}":                       `args."/a".matches is no regular expression: unexpected )`,
		rule + "action='allow'\nargs={'/a'={matches='" + longText + "'}}":            `matches is longer than 4096 bytes`,
	} {
		_, err := Parse([]byte(text), options())
		assert.ErrorContains(t, err, want, clipped(text))
	}
}

var longText = func() string {
	text := make([]byte, mostPattern+1)
	for i := range text {
		text[i] = 'a'
	}
	return string(text)
}()

func TestConditions(t *testing.T) {
	condition := func(text string) Condition {
		t.Helper()
		return parse(t, "[[gateway.policy]]\naction='deny'\nargs={'/a'={"+text+"}}").Gateway.Policy[0].Args["/a"]
	}
	tree := map[string]any{"b": []any{1.0, "x"}}
	for text, values := range map[string][]struct {
		v    any
		want bool
	}{
		"equals='x'":                   {{"x", true}, {"X", false}, {1.0, false}, {nil, false}},
		"equals=5":                     {{5.0, true}, {"5", false}},
		"equals=false":                 {{false, true}, {true, false}, {nil, false}},
		"equals=9007199254740993":      {{json.Number("9007199254740993"), true}, {9007199254740992.0, false}},
		"equals={b=[1,'x']}":           {{tree, true}, {map[string]any{}, false}},
		"matches='/tmp/.*'":            {{"/tmp/x", true}, {"/etc//tmp/x", false}, {"/tmp/a\nb", true}, {"x/tmp/x", false}, {5.0, false}},
		"matches='a|b'":                {{"a", true}, {"b", true}, {"ab", false}, {"xb", false}},
		"in=[1, 'x', true]":            {{1.0, true}, {"x", true}, {true, true}, {"1", false}},
		"in=[]":                        {{1.0, false}},
		"max=100":                      {{100.0, true}, {100.5, false}, {-1.0, true}, {"5", false}, {json.Number("9007199254740993"), false}, {json.Number("-9007199254740993"), true}},
		"max=9007199254740992.0":       {{json.Number("9007199254740993"), false}, {9007199254740992.0, true}},
		"max=0":                        {{0.0, true}, {1.0, false}},
		"matches='[0-9]+', in=['1']":   {{"1", true}, {"2", false}},
		"equals='1', matches='[0-9]+'": {{"1", true}, {"2", false}},
	} {
		c := condition(text)
		for _, one := range values {
			require.Equal(t, one.want, c.Holds(one.v), "%s with %v", text, one.v)
		}
	}
}
