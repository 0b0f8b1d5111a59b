package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/resource"
)

func TestSigningRequests(t *testing.T) {
	typ := typeOf(t, "certificatesigningrequests.certificates.k8s.io")
	old := created(t, typ, `{"spec":{"username":"forged","uid":"forged","signerName":"s"},"status":{"certificate":"eA=="}}`)
	typ.Stamp(old, nil, resource.Author{Name: "alice", Groups: []string{"devs"}, Extra: map[string][]string{"k": {"v"}}})
	row{path: "spec", want: `{"username":"alice","groups":["devs"],"extra":{"k":["v"]},"signerName":"s","request":null}`}.check(t, old)
	row{path: "status", want: `{}`}.check(t, old)

	changed := decoded(t, typ, `{"spec":{"signerName":"t"}}`)
	typ.Prepare(changed, old)
	assert.Equal(t, old["spec"], changed["spec"])

	old["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Approved", "status": "True", "lastTransitionTime": "2024-01-02T03:04:05Z"}}}
	obj := decoded(t, typ, `{"status":{"conditions":[{"type":"Approved","status":"True"},{"type":"Failed","status":"True"}]}}`)
	typ.PrepareStatus(obj, old)
	typ.Stamp(obj, old, resource.Author{Now: "2024-01-02T03:04:06Z"})
	row{path: "status.conditions", want: `[
		{"type":"Approved","status":"True","lastTransitionTime":"2024-01-02T03:04:05Z","lastUpdateTime":"2024-01-02T03:04:06Z"},
		{"type":"Failed","status":"True","lastTransitionTime":"2024-01-02T03:04:06Z","lastUpdateTime":"2024-01-02T03:04:06Z"}]`}.check(t, obj)
}
