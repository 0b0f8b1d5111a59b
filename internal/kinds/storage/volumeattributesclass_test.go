package storage_test

import (
	"testing"

	"github.com/kubefake/kubefake/internal/kinds/kindtest"
)

func TestValidateVolumeAttributesClasses(t *testing.T) {
	kindtest.TestValidation(t, "volumeattributesclasses.storage.k8s.io", []kindtest.ValidationRow{
		{"valid", "", `{"driverName":"a","parameters":{"a":"b"}}`, ""},
		{"empty", "", `{"driverName":""}`, "[driverName: Required value, parameters: Required value: must contain at least one key/value pair]"},
		{"another", `{"metadata":{"name":"a"},"driverName":"a","parameters":{"a":"b"}}`, `{"metadata":{"name":"a"},"driverName":"b","parameters":{"a":"c"}}`, "[driverName: Forbidden: updates to driverName are forbidden., parameters: Forbidden: updates to parameters are forbidden.]"},
	})
}
