package admissionregistration_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateWebhooks(t *testing.T) {
	hook := func(members string) string {
		return `{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"}` + members + `}]}`
	}
	rule := func(members string) string { return hook(`,"rules":[{` + members + `}]`) }
	resources := func(list string) string {
		return rule(`"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":` + list)
	}
	client := func(config string) string {
		return `{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":` + config + `}]}`
	}
	const form = "; desired format: https://host[/path]"
	rows := []kindtest.ValidationRow{
		{"valid", "", resources(`["*","*/status"]`), ""},
		{"service", "", client(`{"service":{"name":"a","namespace":"b","path":"/c/d"}}`), ""},
		{"empty", "", `{"webhooks":[{}]}`, "[webhooks[0].name: Required value, webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun, webhooks[0].clientConfig: Required value: exactly one of url or service is required, webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1]"},
		{"enumerations", "", hook(`,"failurePolicy":"a","matchPolicy":"b","timeoutSeconds":31`), `[webhooks[0].failurePolicy: Unsupported value: "a": supported values: "Fail", "Ignore", webhooks[0].matchPolicy: Unsupported value: "b": supported values: "Equivalent", "Exact", webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds]`},
		{"side effects", "", `{"webhooks":[{"name":"a.b.c","sideEffects":"Some","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"}}]}`, `webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`},
		{"versions", "", `{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v2","v2"],"clientConfig":{"url":"https://a"}}]}`, `[webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version, webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1]`},
		{"same name", "", `{"webhooks":[{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"}},{"name":"a.b.c","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://a"}}]}`, `webhooks[1].name: Duplicate value: "a.b.c"`},
		{"both clients", "", client(`{"url":"https://a","service":{"name":"a","namespace":"b"}}`), "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
		{"URL", "", client(`{"url":"http://u@/?q#f"}`), `[webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme` + form + `, webhooks[0].clientConfig.url: Invalid value: "": host must be specified` + form + `, webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL, webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL, webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL]`},
		{"service without a name", "", client(`{"service":{"name":"","namespace":"b"}}`), "webhooks[0].clientConfig.service.namespace: Required value"},
		{"empty rule", "", rule(``), "[webhooks[0].rules[0].operations: Required value, webhooks[0].rules[0].apiGroups: Required value, webhooks[0].rules[0].apiVersions: Required value, webhooks[0].rules[0].resources: Required value]"},
		{"wildcards", "", rule(`"operations":["*","CREATE"],"apiGroups":["*","a"],"apiVersions":["*","","v1"],"resources":["*/*","a"],"scope":"b"`), `[webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other operations, webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups, webhooks[0].rules[0].apiVersions: Invalid value: ["*","","v1"]: if '*' is present, must not specify other API versions, webhooks[0].rules[0].apiVersions[1]: Required value, webhooks[0].rules[0].resources: Invalid value: ["*/*","a"]: if '*/*' is present, must not specify other resources, webhooks[0].rules[0].scope: Unsupported value: "b": supported values: "*", "Cluster", "Namespaced"]`},
		{"wildcard before resource", "", resources(`["*","a"]`), `webhooks[0].rules[0].resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources without subresources`},
		{"resource before wildcard", "", resources(`["a","*"]`), ""},
		{"subresources", "", resources(`["a/*","a/b","*/c","d/c",""]`), `[webhooks[0].rules[0].resources[1]: Invalid value: "a/b": if 'a/*' is present, must not specify a/b, webhooks[0].rules[0].resources[3]: Invalid value: "d/c": if '*/c' is present, must not specify d/c, webhooks[0].rules[0].resources[4]: Required value]`},
		{"conditions", "", hook(`,"matchConditions":[{"name":"a","expression":"true"},{"name":"a","expression":" "}]`), `[webhooks[0].matchConditions[1].expression: Required value, webhooks[0].matchConditions[1].name: Duplicate value: "a"]`},
		{"condition with a constant that does not convert", "", hook(`,"matchConditions":[{"name":"a","expression":"bool('a')"}]`), `webhooks[0].matchConditions[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'bool'`},
	}
	kindtest.TestValidation(t, "validatingwebhookconfigurations.admissionregistration.k8s.io", rows)
	kindtest.TestValidation(t, "mutatingwebhookconfigurations.admissionregistration.k8s.io", append(rows,
		kindtest.ValidationRow{"reinvocation", "", hook(`,"reinvocationPolicy":"a"`), `webhooks[0].reinvocationPolicy: Unsupported value: "a": supported values: "IfNeeded", "Never"`}))
}
