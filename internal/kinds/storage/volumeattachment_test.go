package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateVolumeAttachments(t *testing.T) {
	kindtest.TestValidation(t, "volumeattachments.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, ""},
		{"no source", "", `{"spec":{"attacher":"a","nodeName":"n","source":{}}}`, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"},
		{"inline", "", `{"spec":{"attacher":"a","nodeName":"n","source":{"inlineVolumeSpec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"nfs":{"server":"s","path":"/"}}}}}`, "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes, spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes]"},
		{"another node", `{"spec":{"attacher":"a","nodeName":"n","source":{"persistentVolumeName":"v"}}}`, `{"spec":{"attacher":"a","nodeName":"m","source":{"persistentVolumeName":"v"}}}`, `spec: Invalid value: {"Attacher":"a","Source":{"PersistentVolumeName":"v","InlineVolumeSpec":null},"NodeName":"m"}: field is immutable`},
	})
}
