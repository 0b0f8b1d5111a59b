package eventratelimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/eventratelimit"
	"github.com/kubefake/kubefake/internal/authn"
)

const head = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\nlimits: "

// An event is a write of an Event at a second.
type event struct {
	second                  float64
	namespace, user, object string
	dryRun                  bool
	want                    string // the key at which the limit is reached; "" if it is not
}

func (e event) write(t *testing.T, p *eventratelimit.Plugin) error {
	a := (&admissiontest.Request{
		Resource: "events", User: &authn.User{Name: e.user}, Time: time.Unix(0, int64(e.second*float64(time.Second))),
		Object: `{"metadata":{"name":"e","namespace":"` + e.namespace + `"},"source":{"component":"s","host":"h"},"involvedObject":{"kind":"Pod","name":"` + e.object + `","uid":"u"}}`,
	}).Attributes(t)
	a.DryRun = e.dryRun
	return p.Validate(a)
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name, limits string
		events       []event
		kind         string
	}{
		{"burst and rate", "[{type: Server, qps: 3, burst: 2}]", []event{{}, {}, {want: "-"}, {second: 0.333, want: "-"}, {second: 1.0 / 3}, {second: 1.0 / 3, want: "-"}, {second: 9}, {second: 9}, {second: 9, want: "-"}}, "Server"},
		{"dry run", "[{type: Server, qps: 1, burst: 1}]", []event{{dryRun: true}, {}, {want: "-"}, {dryRun: true}}, "Server"},
		{"namespace", "[{type: Namespace, qps: 1, burst: 1}]", []event{{namespace: "a"}, {namespace: "b"}, {namespace: "a", want: "a"}}, "Namespace"},
		{"user", "[{type: User, qps: 1, burst: 1}]", []event{{user: "a"}, {user: "b"}, {user: "a", want: "a"}}, "User"},
		{"source and object", "[{type: SourceAndObject, qps: 1, burst: 1}]", []event{{object: "a"}, {object: "b"}, {object: "a", want: "shPodau"}}, "SourceAndObject"},
		{"cache", "[{type: User, qps: 1, burst: 1, cacheSize: 2}]", []event{{user: "a"}, {user: "b"}, {user: "a", want: "a"}, {user: "c"}, {user: "a", want: "a"}, {user: "b"}}, "User"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := eventratelimit.Configure([]byte(head+tt.limits), 0)
			require.NoError(t, err)
			for i, e := range tt.events {
				err := e.write(t, p)
				if e.want == "" {
					assert.NoError(t, err, i)
					continue
				}
				assert.EqualError(t, err, "Too many requests: limit reached on type "+tt.kind+" for key "+strings.Trim(e.want, "-"), i)
			}
		})
	}
}

// An Event counts for all limits, also if one of them refuses it.
func TestSeveralLimits(t *testing.T) {
	p, err := eventratelimit.Configure([]byte(head+"[{type: User, qps: 1, burst: 1},{type: Namespace, qps: 1, burst: 2}]"), 0)
	require.NoError(t, err)
	e := event{user: "a", namespace: "n"}
	assert.NoError(t, e.write(t, p))
	assert.EqualError(t, e.write(t, p), "Too many requests: limit reached on type User for key a")
	assert.EqualError(t, e.write(t, p), "Too many requests: [limit reached on type User for key a, limit reached on type Namespace for key n]")
}

func TestFork(t *testing.T) {
	p, err := eventratelimit.Configure([]byte(head+"[{type: User, qps: 1, burst: 2}]"), 0)
	require.NoError(t, err)
	e := event{user: "a"}
	assert.NoError(t, e.write(t, p))
	fork := p.Fork()
	assert.NoError(t, e.write(t, p))
	assert.Error(t, e.write(t, p))
	assert.NoError(t, e.write(t, fork))
	assert.Error(t, e.write(t, fork))
}

func TestWrongConfiguration(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"no limits", head + "[]", "limits: Invalid value: []: must not be empty"},
		{"empty limit", head + "[{}]", `[limits[0].type: Unsupported value: "": supported values: "Server", "Namespace", "User", "SourceAndObject", limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: 0: must be positive]`},
		{"negative sizes", head + "[{type: Server, qps: 1, burst: 1, cacheSize: -1},{type: User, qps: 1, burst: 1, cacheSize: -1}]", "limits[1].cacheSize: Invalid value: -1: must not be negative"},
		{"version", strings.Replace(head, "v1alpha1", "v1", 1) + "[]", `no kind "Configuration" is registered for version "eventratelimit.admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := eventratelimit.Configure([]byte(tt.text), 0)
			assert.EqualError(t, err, tt.want)
		})
	}
	_, err := eventratelimit.Configure(nil, 0)
	assert.EqualError(t, err, "limits: Invalid value: null: must not be empty")
}
