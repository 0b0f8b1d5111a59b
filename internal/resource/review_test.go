package resource

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodeReview(t *testing.T) {
	for _, row := range []struct{ name, body, err string }{
		{"JSON", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u"}}`, ""},
		{"YAML", "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {uid: u}", ""},
		{"no kind", `{"response":{"uid":"u"}}`, ""},
		{"part of JSON", ` {"apiVersion":`, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{"part of YAML", "a: [", "yaml: line 1: did not find expected node content"},
		{"another version", `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}`, "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"},
		{"another kind", `{"kind":"Pod"}`, `no kind "Pod" is registered for version "admission.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"a Status", `{"apiVersion":"v1","kind":"Status"}`, "converting (v1.Status) to (v1.AdmissionReview): unknown conversion"},
		{"a field of a wrong type", `{"response":[]}`, "json: cannot unmarshal array into Go struct field AdmissionReview.response of type v1.AdmissionResponse"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var review struct{ Response struct{ UID string } }
			err := DecodeReview(36, Kind{GroupVersion{"admission.k8s.io", "v1"}, "AdmissionReview"}, []byte(row.body), &review)
			if row.err != "" {
				assert.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "u", review.Response.UID)
		})
	}
}
