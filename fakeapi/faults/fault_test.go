package faults

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault Fault
		want  string // the error; "" if the fault is valid
	}{
		{"a status code", Fault{Verb: "update", Code: 409}, ""},
		{"a delay and a status code", Fault{Delay: time.Second, Code: 504, ServeFirst: true}, ""},
		{"watch effects", Fault{Watch: CloseWatch, AfterEvents: 3, WithholdBookmarks: true}, ""},
		{"a webhook response", Fault{Webhook: "*", CutAfterBytes: 3}, ""},
		{"any method with a path", Fault{Path: "/apis", Verb: "options", Reset: true}, ""},
		{"no effect", Fault{Verb: "update"}, "the fault has no effect"},
		{"serveFirst without an effect", Fault{ServeFirst: true}, "serveFirst: there is no effect after serving"},
		{"serveFirst with expireContinue", Fault{ServeFirst: true, ExpireContinue: true}, "serveFirst: an expired continue token cannot be served first"},
		{"unknown verb", Fault{Verb: "get,put", Code: 500},
			`verb: "put" is not one of get, list, watch, create, update, patch, delete, deletecollection`},
		{"unknown watch effect", Fault{Watch: "drop"}, `watch: "drop" is not one of close, reset, expire, pause`},
		{"unknown watch selection", Fault{Watch: CloseWatch, Watches: "old"}, `watches: "old" is not one of open, new`},
		{"probability above 1", Fault{Reset: true, Probability: 1.5}, "probability: 1.5 is not between 0 and 1"},
		{"code of a success", Fault{Code: 200}, "code: 200 is not between 400 and 599"},
		{"negative bounds", Fault{Reset: true, Skip: -1, Times: -2, Lifetime: -time.Second}, "lifetime: -1s is negative\nskip: -1 is negative\ntimes: -2 is negative"},
		{"negative rate", Fault{EventDelay: 1, EventRate: -1}, "eventRate: -1 is negative"},
		{"two responses", Fault{Code: 500, Reset: true}, "code, reset, cutAfterBytes and expireContinue exclude each other"},
		{"response and watch effects", Fault{Delay: 1, Watch: CloseWatch}, "effects on watches and effects on responses need two faults"},
		{"retryAfter without a code", Fault{Reset: true, RetryAfter: 1}, "reason, message and retryAfter need a code"},
		{"watches without a watch effect", Fault{Reset: true, Watches: OpenWatches}, "watches: the fault has no effect on watches"},
		{"afterEvents with pause", Fault{Watch: PauseWatch, AfterEvents: 1}, "afterEvents: only close, reset and expire can wait for events"},
		{"webhook and resource", Fault{Webhook: "*", Resource: "pods", Reset: true}, "webhook: the fault also has fields for client requests"},
		{"webhook and watch", Fault{Webhook: "*", Watch: CloseWatch}, "webhook: the fault also has fields for client requests"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := row.fault.Check()
			if row.want == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestString(t *testing.T) {
	for want, f := range map[string]Fault{
		"anything: reset": {Reset: true},
		"update,patch of deployments.apps shop/web by kubectl/*: 409, skip 1, 2 times": {
			Verb: "update,patch", Resource: "deployments.apps", Namespace: "shop", Name: "web", UserAgent: "kubectl/*", Code: 409, Skip: 1, Times: 2},
		"watch of pods: close after 3 events, once":                         {Resource: "pods", Watch: CloseWatch, AfterEvents: 3, Times: 1},
		"watch of anything: events delayed by 1s 5 events per second, 2.5%": {Resource: "*", EventDelay: time.Second, EventRate: 5, Probability: 0.025},
		"watch of nodes web: bookmarks withheld, for 1m0s":                  {Resource: "nodes", Name: "web", WithholdBookmarks: true, Lifetime: time.Minute},
		"/apis*: cut after 7 bytes":                                         {Path: "/apis*", CutAfterBytes: 7},
		"list of anything: continue token expired":                          {Verb: "list", ExpireContinue: true},
		"create of anything: delay of 1s reset after serving":               {Verb: "create", Delay: time.Second, Reset: true, ServeFirst: true},
		"webhook *: delay of 1s":                                            {Webhook: "*", Delay: time.Second},
		"watch of pods: expire, open watches only, once":                    {Resource: "pods", Watch: ExpireWatch, Watches: OpenWatches, Times: 1},
		"watch of pods: close, new watches only":                            {Resource: "pods", Watch: CloseWatch, Watches: NewWatches},
	} {
		assert.Equal(t, want, f.String())
	}
}

func TestParse(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []Fault
		err        string
	}{
		{name: "no faults", text: "# no faults\n"},
		{name: "one", text: "{verb: update, resource: deployments.apps, times: 1, code: 409}",
			want: []Fault{{Verb: "update", Resource: "deployments.apps", Times: 1, Code: 409}}},
		{name: "several", want: []Fault{{ID: "slow", Delay: 1500 * time.Millisecond, Lifetime: time.Minute}, {Watch: CloseWatch, EventDelay: time.Second}},
			text: `
- id: slow
  delay: 1.5s
  lifetime: 1m
- watch: close
  eventDelay: 1s
`},
		{name: "an unknown field", text: "{verbs: update, code: 409}", err: `invalid fault: unknown field "verbs"; did you mean verb?`},
		{name: "duplicate field", text: "{code: 409, code: 500}", err: `invalid fault: yaml: unmarshal errors:
  line 1: key "code" already set in map`},
		{name: "not a duration", text: "{delay: soon}", err: `invalid fault: delay: "soon" is not a duration, such as 90s`},
		{name: "failed check", text: "[{code: 500}, {code: 200}]", err: "invalid fault 2 (anything: 200): code: 200 is not between 400 and 599"},
		{name: "not a mapping", text: "late", err: "invalid fault: expected an object, not a string"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Parse([]byte(row.text))
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				assert.ErrorIs(t, err, ErrInvalid)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// FuzzParse checks that marshalled faults parse to the same faults.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"id":"a","verb":"get","delay":"1.5s","code":503,"retryAfter":"1s","probability":0.1,"seed":7}]`))
	f.Add([]byte("- watch: expire\n  afterEvents: 3\n  watches: new\n- {webhook: '*', reset: true, lifetime: 1h}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		faults, err := Parse(text)
		if err != nil {
			return
		}
		b, err := json.Marshal(faults)
		require.NoError(t, err)
		again, err := Parse(b)
		require.NoError(t, err)
		assert.ElementsMatch(t, faults, again)
	})
}

func TestChaos(t *testing.T) {
	ids := map[string]bool{}
	faults := Chaos(7)
	for _, f := range faults {
		assert.NoError(t, f.Check(), f)
		assert.Equal(t, uint64(7), f.Seed, f)
		assert.Greater(t, f.Probability, 0.0, f)
		assert.False(t, ids[f.ID], "the IDs are unique")
		ids[f.ID] = true
	}
}
