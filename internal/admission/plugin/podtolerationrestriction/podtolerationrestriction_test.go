package podtolerationrestriction_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/admission/admissiontest"
	"github.com/kubefake/kubefake/internal/admission/plugin/podtolerationrestriction"
	"github.com/kubefake/kubefake/internal/release"
)

const (
	defaults  = "scheduler.alpha.kubernetes.io/defaultTolerations"
	permitted = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
)

// namespace returns the namespace n with annotations: keys and values in turn.
func namespace(annotations ...string) []string {
	var members []string
	for i := 0; i < len(annotations); i += 2 {
		members = append(members, strconv.Quote(annotations[i])+":"+strconv.Quote(annotations[i+1]))
	}
	return []string{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"n","annotations":{` + strings.Join(members, ",") + `}}}`}
}

func pod(tolerations string) string { return podWith(tolerations, `"requests":{}`) }

func podWith(tolerations, resources string) string {
	return `{"metadata":{"namespace":"n"},"spec":{"containers":[{"name":"c","resources":{` + resources + `}}],"tolerations":[` + tolerations + `]}}`
}

const (
	pressure = `{"key":"node.kubernetes.io/memory-pressure","operator":"Exists","effect":"NoSchedule"}`
	conflict = "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"
	inAll    = `{"key":"a","operator":"Exists"}`
	once     = `{"key":"a","operator":"Equal","value":"1"}`
	brief    = `{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}`
	greater  = `{"key":"a","operator":"Gt","value":"1"}`
)

func TestPlugin(t *testing.T) {
	const wrong = "json: cannot unmarshal "
	requests := []admissiontest.Request{
		{Name: "no annotation", Objects: namespace(), Object: pod(once), Path: "spec.tolerations", Want: `[` + once + `]`},
		{Name: "added", Objects: namespace(defaults, `[`+inAll+`]`), Object: pod(`{"key":"b"}`), Path: "spec.tolerations", Want: `[{"key":"b"},` + inAll + `]`},
		{Name: "unknown fields", Objects: namespace(defaults, `[{"key":"a","operator":"Exists","other":1}]`), Object: pod(""), Path: "spec.tolerations", Want: `[` + inAll + `]`},
		{Name: "covers one of the pod", Objects: namespace(defaults, `[`+inAll+`]`), Object: pod(once), Path: "spec.tolerations", Want: `[` + inAll + `]`},
		{Name: "covered by one of the pod", Objects: namespace(defaults, `[`+brief+`]`), Object: pod(inAll), Path: "spec.tolerations", Want: `[` + inAll + `]`},
		{Name: "longer than a default", Objects: namespace(defaults, `[`+brief+`]`), Object: pod(strings.Replace(brief, "5", "6", 1)), Path: "spec.tolerations", Want: `[` + strings.Replace(brief, "5", "6", 1) + `]`},
		{Name: "twice", Objects: namespace(defaults, `[{"key":"b"}]`), Object: pod(inAll + "," + inAll), Path: "spec.tolerations", Want: `[` + inAll + `,{"key":"b"}]`},
		{Name: "without an operator", Objects: namespace(defaults, `[{"key":"a","value":"1"}]`), Object: pod(once), Path: "spec.tolerations", Want: `[{"key":"a","value":"1"}]`},
		{Name: "number", Objects: namespace(defaults, `[{"key":"a","operator":"Lt","value":"1"}]`), Object: pod(greater), Path: "spec.tolerations", Want: `[` + greater + `,{"key":"a","operator":"Lt","value":"1"}]`},
		{Name: "requests", Objects: namespace(), Object: podWith("", `"requests":{"cpu":"1"}`), Path: "spec.tolerations", Want: `[` + pressure + `]`},
		{Name: "QoS class in the status", Objects: namespace(), Object: strings.Replace(pod(""), `{`, `{"status":{"qosClass":"Burstable"},`, 1), Path: "spec.tolerations", Want: `[` + pressure + `]`},
		{Name: "update", Objects: namespace(defaults, `[`+inAll+`]`), Object: podWith("", `"limits":{"memory":"1"}`), Old: pod(""), Path: "spec.tolerations", Want: `[` + pressure + `]`},
		{Name: "status", Subresource: "status", Objects: namespace(permitted, `[{"key":"b"}]`), Object: `{}`, Old: pod(once)},
		{Name: "permitted", Objects: namespace(permitted, `[`+inAll+`]`), Object: pod(once)},
		{Name: "any is permitted", Objects: namespace(permitted, `[]`), Object: pod(once)},
		{Name: "refused", Objects: namespace(permitted, `[`+once+`]`), Object: pod(inAll), Error: conflict},
		{Name: "refused effect", Objects: namespace(permitted, `[{"key":"a","operator":"Exists","effect":"NoSchedule"}]`), Object: pod(inAll), Error: conflict},
		{Name: "refused duration", Objects: namespace(permitted, `[`+brief+`]`), Object: pod(strings.Replace(brief, "5", "6", 1)), Error: conflict},
		{Name: "refused update", Objects: namespace(permitted, `[`+once+`]`), Object: pod(inAll), Old: pod(inAll), Error: conflict},
		{Name: "refused default", Objects: namespace(defaults, `[`+inAll+`]`, permitted, `[`+once+`]`), Object: pod(""), Error: conflict},
		{Name: "no JSON", Objects: namespace(defaults, `{`), Object: pod(""), Error: "unexpected end of JSON input"},
		{Name: "no list", Objects: namespace(defaults, `{}`), Object: pod(""), Error: wrong + "object into Go value of type []v1.Toleration"},
		{Name: "wrong item", Objects: namespace(permitted, `[3]`), Object: pod(once), Error: wrong + "number into Go value of type v1.Toleration"},
		{Name: "wrong operator", Objects: namespace(defaults, `[{"operator":3}]`), Object: pod(""), Error: wrong + "number into Go struct field Toleration.operator of type v1.TolerationOperator"},
		{Name: "wrong effect", Objects: namespace(defaults, `[{"effect":{}}]`), Object: pod(""), Error: wrong + "object into Go struct field Toleration.effect of type v1.TaintEffect"},
		{Name: "no namespace", Object: pod(""), Error: `namespaces "n" not found`},
	}
	for i := range requests {
		requests[i].Resource = "pods"
	}
	admissiontest.Run(t, podtolerationrestriction.Plugin{}, requests)
}

const head = "apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\nkind: Configuration\n"

func TestConfiguration(t *testing.T) {
	r, err := release.Open("1.37")
	require.NoError(t, err)
	p, err := podtolerationrestriction.Configure([]byte(head+"default: ["+inAll+"]\nwhitelist: ["+inAll+"]\nother: 1\n"), r)
	require.NoError(t, err)
	admissiontest.Run(t, p, []admissiontest.Request{
		{Name: "default", Resource: "pods", Objects: namespace(), Object: pod(""), Path: "spec.tolerations", Want: `[` + inAll + `]`},
		{Name: "annotation", Resource: "pods", Objects: namespace(defaults, ""), Object: pod(""), Path: "spec.tolerations", Want: `[]`},
		{Name: "null in the annotation", Resource: "pods", Objects: namespace(defaults, "null"), Object: pod(""), Path: "spec.tolerations", Want: `[]`},
		{Name: "refused", Resource: "pods", Objects: namespace(), Object: pod(`{"key":"b"}`), Error: strings.Replace(conflict, "its namespace", "its cluster", 1)},
		{Name: "any is permitted in the namespace", Resource: "pods", Objects: namespace(permitted, ""), Object: pod(`{"key":"b"}`)},
	})
}

func TestWrongConfiguration(t *testing.T) {
	const at = "podtolerationrestriction."
	for _, tt := range []struct{ name, release, text, want string }{
		{"empty", "1.37", "", "Object 'Kind' is missing in ''"},
		{"version", "1.37", strings.Replace(head, "v1alpha1", "v1", 1), `no kind "Configuration" is registered for version "podtolerationrestriction.admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"tolerations", "1.37", head + "default: [{key: a, tolerationSeconds: 1, operator: Exists}]\nwhitelist: [{operator: Equal}]",
			"invalid config: [" + at + "default[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set " +
				at + "whitelist[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"]"},
		{"comparison", "1.37", head + "default: [" + greater + "]", `invalid config: [` + at + `default[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"]`},
		{"comparison in an old release", "1.32", head + "default: [" + greater + "]", `invalid config: [` + at + `default[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := release.Open(tt.release)
			require.NoError(t, err)
			_, err = podtolerationrestriction.Configure([]byte(tt.text), r)
			assert.EqualError(t, err, tt.want)
		})
	}
}
