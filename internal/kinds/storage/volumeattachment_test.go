package storage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/release"
)

func TestValidateVolumeAttachments(t *testing.T) {
	kindtest.TestValidation(t, "volumeattachments.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, ""},
		{"no source", "", `{"spec":{"attacher":"a","nodeName":"n","source":{}}}`, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"},
		{"inline", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/"}}}}}`, "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes]"},
		{"invalid attacher after another", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, `{"spec":{"attacher":"-a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`,
			`[spec.attacher: Invalid value: "-a": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'), spec: Invalid value: null: field is immutable]`},
		{"another node", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, `{"spec":{"attacher":"a","nodeName":"m","source":{"persistentVolumeName":"v"}}}`, `spec: Invalid value: null: field is immutable`},
	})
}

// Since 1.37 the declaration of the attacher checks it: it counts characters, and does not ask
// for lower case.
func TestValidateAttachers(t *testing.T) {
	long, accents := strings.Repeat("a", 64), strings.Repeat("é", 40)
	for _, r := range []struct {
		name, release, attacher string
		want                    []string // the beginnings of the details
	}{
		{"long", "1.36", long, []string{"may not be more than 63 bytes"}},
		{"long", "1.37", long, []string{"may not be more than 63 characters"}},
		{"long in bytes", "1.37", accents, []string{"may not be more than 63 bytes", "an RFC 1123 subdomain must"}},
		{"characters", "1.36", "a_B", []string{"a lowercase RFC 1123 subdomain must"}},
		{"characters", "1.37", "a_B", []string{"an RFC 1123 subdomain must"}},
		{"upper case", "1.36", "A.B", nil},
	} {
		t.Run(r.release+" "+r.name, func(t *testing.T) {
			typ := kindtest.TypeIn(t, r.release, "volumeattachments.storage.k8s.io")
			obj := kindtest.Create(t, typ, `{"spec":{"attacher":"`+r.attacher+`","nodeName":"n","source":{"persistentVolumeName":"v"}}}`)
			in, err := release.Open(r.release)
			require.NoError(t, err)
			errs := typ.ValidateAll(context.Background(), obj, object.View{}, nil).In(in, typ.Group, typ.Kind)
			require.Len(t, errs, len(r.want))
			for i, e := range errs {
				assert.Equal(t, "spec.attacher", e.Field)
				assert.True(t, strings.HasPrefix(e.Detail, r.want[i]), e.Detail)
			}
		})
	}
}
