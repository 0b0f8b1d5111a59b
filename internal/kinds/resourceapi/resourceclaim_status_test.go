package resourceapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
)

// Since v1.37 the generated validation checks a shareID.
func TestValidateShareIDs(t *testing.T) {
	const rule = "must be a lowercase UUID in 8-4-4-4-12 format"
	for _, r := range []struct{ release, id, want string }{
		{"1.36", "b", "error validating uid: invalid UUID length: 1"},
		{"1.36", "01234567-89AB-cdef-0123-456789abcdef", "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"},
		{"1.36", "01234567-89ab-cdef-0123-456789abcdef", ""},
		{"1.37", "b", rule},
		{"1.37", "01234567-89AB-cdef-0123-456789abcdef", rule},
		{"1.37", "01234567-89ab-cdef-0123-456789abcdef", ""},
	} {
		t.Run(r.release+" "+r.id, func(t *testing.T) {
			typ := kindtest.TypeIn(t, r.release, "resourceclaims.resource.k8s.io")
			old := kindtest.Decode(t, typ, `{"metadata":{"namespace":"ns"}}`)
			obj := kindtest.Decode(t, typ, `{"metadata":{"namespace":"ns"},"status":{"allocation":{"devices":{"results":[
				{"request":"r","driver":"d.example.com","pool":"p","device":"x","shareID":"`+r.id+`"}]}}}}`)
			p, err := release.Open(r.release)
			require.NoError(t, err)
			var detail string
			for _, e := range typ.SubresourceStrategies["status"].ValidateAll(context.Background(), obj, object.ViewOf(old), nil).In(p, typ.Group, typ.Kind) {
				if e.Field == "status.allocation.devices.results[0].shareID" {
					detail = e.Detail
				}
			}
			assert.Equal(t, r.want, detail)
		})
	}
}
