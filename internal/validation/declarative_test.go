package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/release"
	. "github.com/kubefake/kubefake/internal/validation"
)

// Errors of declarative validation follow the others since v1.37, in the order of the fields.
func TestDeclarativeErrors(t *testing.T) {
	at := func(path ...string) *Path { return NewPath(path[0], path[1:]...) }
	requests := at("spec", "devices", "requests")
	errs := func() List {
		return List{
			Required(at("roleRef", "name"), "").Declarative(),
			Required(at("subjects").Index(1).Child("name"), "").Declarative(),
			Required(at("subjects").Index(0).Child("kind"), ""),
			Required(at("subjects").Index(0).Child("name"), "").Declarative(),
		}
	}
	tooManyCharacters := TooLong(at("spec", "attacher"), 63)
	tooManyCharacters.Detail = "may not be more than 63 characters"
	for _, row := range []struct {
		name, release, group, kind string
		errs                       List
		want                       []string // fields
	}{
		{"by fields", "1.37", "rbac.authorization.k8s.io", "RoleBinding", errs(), []string{"subjects[0].kind", "subjects[0].name", "subjects[1].name", "roleRef.name"}},
		{"older release", "1.36", "rbac.authorization.k8s.io", "RoleBinding", errs(), []string{"roleRef.name", "subjects[1].name", "subjects[0].kind", "subjects[0].name"}},
		{"unknown kind", "1.37", "example.com", "Widget", errs(), []string{"subjects[0].kind", "roleRef.name", "subjects[1].name", "subjects[0].name"}},
		{"duplicates before elements", "1.37", "resource.k8s.io", "ResourceClaim", List{
			NotSupported(requests.Index(0).Child("exactly").Child("allocationMode"), "X", nil).Declarative(),
			Duplicate(requests.Index(1), "a").Declarative(),
		}, []string{"spec.devices.requests[1]", "spec.devices.requests[0].exactly.allocationMode"}},
		{"unions before fields", "1.37", "flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", List{
			Required(at("spec", "type"), "").Declarative(),
			Forbidden(at("spec", "exempt"), "").Declarative(),
		}, []string{"spec.exempt", "spec.type"}},
		{"lengths after formats", "1.37", "storage.k8s.io", "VolumeAttachment", List{
			tooManyCharacters.Declarative(),
			Invalid(at("spec", "attacher"), "a_", "").Declarative(),
		}, []string{"spec.attacher", "spec.attacher"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			in, err := release.Open(row.release)
			require.NoError(t, err)
			got := row.errs.In(in, row.group, row.kind)
			var fields []string
			for _, e := range got {
				fields = append(fields, e.Field)
			}
			assert.Equal(t, row.want, fields)
			if row.name == "lengths after formats" {
				assert.Equal(t, ReasonTooLong, got[1].Reason)
			}
		})
	}
}
