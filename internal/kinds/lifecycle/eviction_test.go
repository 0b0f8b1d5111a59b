package lifecycle_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

const target = `"target":{"pod":{"name":"p","uid":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}}`

func TestValidateEvictionRequest(t *testing.T) {
	const valid = `{"metadata":{"name":"a"},"spec":{` + target + `,"requester":"example.com/x","intent":"Eviction"}}`
	kindtest.TestValidation(t, "evictionrequests.lifecycle.k8s.io", []kindtest.ValidationRow{
		{"valid", "", valid, ""},
		{"empty", "", `{"metadata":{"name":"a"},"spec":{}}`, "[spec.target: Invalid value: \"\": must specify one of: `pod`, spec.requester: Required value, spec.intent: Required value]"},
		{"invalid", "", `{"metadata":{"name":"a"},"spec":{"target":{"pod":{"uid":"z"}},"requester":"x","intent":"Y"}}`,
			`[spec.target.pod.name: Required value, spec.target.pod.uid: Invalid value: "z": must be a lowercase UUID in 8-4-4-4-12 format, ` +
				`spec.requester: Invalid value: "x": must include a prefix (e.g. 'example.com/key'), spec.intent: Unsupported value: "Y": supported values: "Eviction", "Withdrawn"]`},
		{"no name", "", `{"spec":{` + target + `,"requester":"example.com/x","intent":"Eviction"}}`, `metadata.name: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"other target", valid, `{"metadata":{"name":"a"},"spec":{"target":{"pod":{"name":"q","uid":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}},"requester":"example.com/x","intent":"Eviction"}}`,
			"spec.target: Invalid value: null: field is immutable"},
		{"other requester", valid, `{"metadata":{"name":"a"},"spec":{` + target + `,"requester":"example.com/y","intent":"Withdrawn"}}`, "spec.requester: Invalid value: null: field is immutable"},
	})
}

func TestValidateEvictionStatus(t *testing.T) {
	status := func(fields string) string {
		return `{"metadata":{"name":"a"},"spec":{` + target + `},"status":{` + fields + `}}`
	}
	kindtest.TestStatusValidation(t, "evictions.lifecycle.k8s.io", []kindtest.ValidationRow{
		{"zero generation", status(""), status(`"observedGeneration":0`), "status.observedGeneration: Invalid value: 0: must be greater than or equal to 1"},
		{"decreased generation", status(`"observedGeneration":2`), status(`"observedGeneration":1`), "status.observedGeneration: Invalid value: 1: may not be decreased from 2"},
		{"no generation any more", status(`"observedGeneration":2`), status(""), "status.observedGeneration: Invalid value: null: field cannot be cleared once set"},
		{"requester", status(""), status(`"requesters":[{"name":"example.com/x"}]`), "status.requesters[0].intent: Required value"},
		{"responder", status(""), status(`"targetResponders":[{"name":"example.com/x","priority":-1,"state":"Active"},{"name":"example.com/y"}]`),
			"[status.targetResponders[0].priority: Invalid value: -1: must be greater than or equal to 0, status.targetResponders[1].priority: Required value, status.targetResponders[1].state: Required value]"},
		{"priority", status(""), status(`"targetResponders":[{"name":"example.com/x","priority":100001,"state":"Active"}]`),
			"status.targetResponders[0].priority: Invalid value: 100001: must be less than or equal to 100000"},
	})
}
