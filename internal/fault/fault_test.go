package fault

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault Fault
		want  string // "" for none
	}{
		{"an answer", Fault{Verb: "update", Code: 409}, ""},
		{"a delay and an answer", Fault{Delay: time.Second, Code: 504, After: true}, ""},
		{"a watch", Fault{Watch: Close, Events: 3, WithholdBookmarks: true}, ""},
		{"a webhook", Fault{Webhook: "*", CutAfter: 3}, ""},
		{"a method of a path", Fault{Path: "/apis", Verb: "options", Reset: true}, ""},
		{"no effect", Fault{Verb: "update"}, "nothing goes wrong: there is no effect"},
		{"after nothing", Fault{After: true}, "after: nothing goes wrong after"},
		{"after a token", Fault{After: true, ExpireContinue: true}, "after: a continue token expires before"},
		{"unknown verb", Fault{Verb: "get,put", Code: 500},
			`verb: "put" is none of get, list, watch, create, update, patch, delete, deletecollection`},
		{"unknown end", Fault{Watch: "drop"}, `watch: "drop" is none of close, reset, expire, pause`},
		{"unknown watches", Fault{Watch: Close, Watches: "old"}, `watches: "old" is neither open nor new`},
		{"unlikely", Fault{Reset: true, Probability: 1.5}, "probability: 1.5 is not from 0 to 1"},
		{"success", Fault{Code: 200}, "code: 200 is not from 400 to 599"},
		{"negative", Fault{Reset: true, Skip: -1, Times: -2, For: -time.Second}, "for: -1s is negative\nskip: -1 is negative\ntimes: -2 is negative"},
		{"negative rate", Fault{EventDelay: 1, EventRate: -1}, "eventRate: -1 is negative"},
		{"two answers", Fault{Code: 500, Reset: true}, "code, reset, cutAfter and expireContinue exclude each other"},
		{"of both sorts", Fault{Delay: 1, Watch: Close}, "what happens to watches and what happens to answers are two faults"},
		{"a hint without a code", Fault{Reset: true, RetryAfter: 1}, "reason, message and retryAfter are part of a code"},
		{"watches of an answer", Fault{Reset: true, Watches: Open}, "watches: the fault is not about watches"},
		{"events before a pause", Fault{Watch: Pause, Events: 1}, "events: only close, reset and expire let events pass first"},
		{"webhooks of a resource", Fault{Webhook: "*", Resource: "pods", Reset: true}, "webhook: the fault is about requests, too"},
		{"watches of a webhook", Fault{Webhook: "*", Watch: Close}, "webhook: the fault is about requests, too"},
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
		"update,patch of deployments.apps shop/web by kubectl/*: 409, after 1, 2 times": {
			Verb: "update,patch", Resource: "deployments.apps", Namespace: "shop", Name: "web", UserAgent: "kubectl/*", Code: 409, Skip: 1, Times: 2},
		"watch of pods: close after 3 events, once":                    {Resource: "pods", Watch: Close, Events: 3, Times: 1},
		"watch of anything: events late by 1s 5 events a second, 2.5%": {Resource: "*", EventDelay: time.Second, EventRate: 5, Probability: 0.025},
		"watch of nodes web: bookmarks withheld, for 1m0s":             {Resource: "nodes", Name: "web", WithholdBookmarks: true, For: time.Minute},
		"/apis*: cut after 7 bytes":                                    {Path: "/apis*", CutAfter: 7},
		"list of anything: continue token expired":                     {Verb: "list", ExpireContinue: true},
		"create of anything: delay of 1s reset after it is done":       {Verb: "create", Delay: time.Second, Reset: true, After: true},
		"webhook *: delay of 1s":                                       {Webhook: "*", Delay: time.Second},
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
		{name: "nothing", text: "# no faults\n"},
		{name: "one", text: "{verb: update, resource: deployments.apps, times: 1, code: 409}",
			want: []Fault{{Verb: "update", Resource: "deployments.apps", Times: 1, Code: 409}}},
		{name: "several", want: []Fault{{ID: "slow", Delay: 1500 * time.Millisecond, For: time.Minute}, {Watch: Close, EventDelay: time.Second}},
			text: `
- id: slow
  delay: 1.5s
  for: 1m
- watch: close
  eventDelay: 1s
`},
		{name: "an unknown field", text: "{verbs: update, code: 409}", err: `json: unknown field "verbs"`},
		{name: "a field twice", text: "{code: 409, code: 500}", err: `yaml: unmarshal errors:
  line 1: key "code" already set in map`},
		{name: "no duration", text: "{delay: soon}", err: `delay: "soon" is no duration, such as 90s`},
		{name: "a wrong fault", text: "[{code: 500}, {code: 200}]", err: "fault 2, anything: 200: code: 200 is not from 400 to 599"},
		{name: "no fault at all", text: "late", err: "json: cannot unmarshal string into Go value of type fault.wireFault"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := Parse([]byte(row.text))
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, got)
		})
	}
}

// FuzzParse checks that what is read is written as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"id":"a","verb":"get","delay":"1.5s","code":503,"retryAfter":"1s","probability":0.1,"seed":7}]`))
	f.Add([]byte("- watch: expire\n  events: 3\n  watches: new\n- {webhook: '*', reset: true, for: 1h}"))
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
	faults := Chaos(7)
	for _, f := range faults {
		assert.NoError(t, f.Check(), f)
		assert.Equal(t, uint64(7), f.Seed, f)
		assert.Greater(t, f.Probability, 0.0, f)
	}
	_, err := newTestSet().Inject(faults...)
	assert.NoError(t, err, "their IDs differ")
}

func ExampleParse() {
	faults, err := Parse([]byte(`
- {verb: update, resource: deployments.apps, times: 1, code: 409}
- {resource: pods, watch: close, watches: open}
`))
	for _, f := range faults {
		fmt.Println(f)
	}
	fmt.Println(err)
	// Output:
	// update of deployments.apps: 409, once
	// watch of pods: close
	// <nil>
}
