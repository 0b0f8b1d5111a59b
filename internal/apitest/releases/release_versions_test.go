package releases_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/fakeapi/apiserver"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/object"
)

// Older releases serve the alpha and beta versions that they have, over the same objects.
func TestVersionsOfOlderReleases(t *testing.T) {
	const vac = `{"metadata":{"name":"a"},"driverName":"d","parameters":{"k":"v"}}`
	const policy = `{"metadata":{"name":"a"},"spec":{"validations":[{"expression":"true"}],"matchConstraints":{"resourceRules":[
		{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["CREATE"]}]}}}`
	for _, row := range []struct{ release, create, read, body string }{
		{"1.32", "/apis/storage.k8s.io/v1alpha1/volumeattributesclasses", "/apis/storage.k8s.io/v1beta1/volumeattributesclasses/a", vac},
		{"1.32", "/apis/admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/a", policy},
		{"1.34", "/apis/storage.k8s.io/v1alpha1/volumeattributesclasses", "/apis/storage.k8s.io/v1/volumeattributesclasses/a", vac},
		{"1.34", "/apis/resource.k8s.io/v1beta1/deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses/a", `{"metadata":{"name":"a"},"spec":{}}`},
	} {
		t.Run(row.release+" "+row.create, func(t *testing.T) {
			srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease(row.release), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{"api/all": true}}))
			code, answer := apitest.Do(t, srv, "POST", row.create, row.body)
			assert.Equal(t, 201, code, answer["message"])
			code, answer = apitest.Do(t, srv, "GET", row.read, "")
			assert.Equal(t, 200, code, answer["message"])
		})
	}
	// Discovery has a hash of the version that the release stores, which is another one here.
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("1.34"), fakeapi.WithAPIServer(apiserver.Config{RuntimeConfig: map[string]bool{"api/all": true}}))
	_, answer := apitest.Do(t, srv, "GET", "/apis/resource.k8s.io/v1", "")
	sum := sha256.Sum256([]byte("resource.k8s.io/v1beta2/DeviceClass"))
	for r := range object.Each(answer["resources"]) {
		if r["name"] == "deviceclasses" {
			assert.Equal(t, base64.StdEncoding.EncodeToString(sum[:8]), r["storageVersionHash"])
		}
	}
}
