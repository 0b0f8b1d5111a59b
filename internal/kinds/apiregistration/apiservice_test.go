package apiregistration_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestAPIServices(t *testing.T) {
	const name = "apiservices.apiregistration.k8s.io"
	kindtest.TestDefaults(t, name, []kindtest.Row{{"port", `{"spec":{"service":{"name":"s"}}}`, "spec.service.port", `443`}})
	kindtest.TestCreates(t, name, []kindtest.Row{
		{"local", `{}`, "status.conditions.0.reason", `"Local"`},
		{"remote", `{"spec":{"service":{"name":"s"}}}`, "status", `{}`},
	})
}

func TestValidateAPIServices(t *testing.T) {
	spec := func(members string) string {
		return `{"metadata":{"name":"v1.g.io"},"spec":{"group":"g.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1` + members + `}}`
	}
	kindtest.TestValidation(t, "apiservices.apiregistration.k8s.io", []kindtest.ValidationRow{
		{"local", "", spec(``), ""},
		{"remote", "", spec(`,"service":{"name":"a","namespace":"b"},"caBundle":"YQ=="`), ""},
		{"local with trust", "", spec(`,"caBundle":"YQ==","insecureSkipTLSVerify":true`), `[spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle, spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify]`},
		{"remote with both", "", spec(`,"service":{"port":-1},"caBundle":"YQ==","insecureSkipTLSVerify":true`), `[spec.service.namespace: Required value, spec.service.name: Required value, spec.service.port: Invalid value: -1: port is not valid: must be between 1 and 65535, inclusive, spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present]`},
		{"prefix of a name", "", `{"metadata":{"generateName":"a","name":"v1.g.io"},"spec":{"group":"g.io","version":"v1","groupPriorityMinimum":1,"versionPriority":1}}`, "metadata.generateName: Invalid value: \"a\": must be `spec.version+\".\"+spec.group`: \"v1.g.io\""},
		{"empty", "", `{"metadata":{"name":"."}}`, "[metadata.name: Invalid value: \".\": may not be '.', spec.group: Required value: only v1 may have an empty group and it better be legacy kube, spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'), spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000, spec.versionPriority: Invalid value: 0: must be positive and less than 1000]"},
		{"name", "", `{"metadata":{"name":"a"},"spec":{"version":"v1","groupPriorityMinimum":20001,"versionPriority":1001}}`, "[metadata.name: Invalid value: \"a\": must be `spec.version+\".\"+spec.group`: \"v1.\", spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000, spec.versionPriority: Invalid value: 1001: must be positive and less than 1000]"},
	})
	kindtest.TestStatusValidation(t, "apiservices.apiregistration.k8s.io", []kindtest.ValidationRow{
		{"condition", `{}`, `{"status":{"conditions":[{"type":"a","status":"b"}]}}`, `status.conditions[0].status: Unsupported value: "b": supported values: "True", "False", "Unknown"`},
	})
}
