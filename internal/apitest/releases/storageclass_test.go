package releases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// TestDefaultStorageClasses reads Tables of StorageClasses, of which two are marked as the default. Since
// v1.37 a list names the one that takes effect, and a class alone none.
func TestDefaultStorageClasses(t *testing.T) {
	class := func(name, isDefault string) string {
		return `{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"` + name + `","annotations":{"storageclass.kubernetes.io/is-default-class":"` + isDefault + `"}},"provisioner":"p"}`
	}
	const path = "/apis/storage.k8s.io/v1/storageclasses"
	for _, tt := range []struct {
		name, release, path string
		want                []string
	}{
		{"list", "1.37", path, []string{"a", "b (default)", "c"}},
		{"class", "1.37", path + "/b", []string{"b"}},
		{"list in v1.36", "1.36", path, []string{"a", "b (default)", "c (default)"}},
		{"class in v1.36", "1.36", path + "/b", []string{"b (default)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(tt.release), fakeapi.WithObjects(class("a", "false"), class("b", "true"), class("c", "true")))
			_, answer := apitest.DoWithHeaders(t, srv, "GET", tt.path, "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
			var names []string
			rows, _ := answer["rows"].([]any)
			for _, row := range rows {
				name, _ := row.(map[string]any)["cells"].([]any)[0].(string)
				names = append(names, name)
			}
			assert.Equal(t, tt.want, names)
		})
	}
}
