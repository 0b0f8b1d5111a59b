package releases_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
	"github.com/kubefake/kubefake/internal/object"
)

// TestMetadataOfCronJobStatus checks how often v1.36 reports an error in the metadata of a CronJob.
func TestMetadataOfCronJobStatus(t *testing.T) {
	srv := fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRelease("1.36"))
	const path = "/apis/batch/v1/namespaces/default/cronjobs"
	code, obj := apitest.Do(t, srv, "POST", path, `{"metadata":{"name":"a"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`)
	assert.Equal(t, 201, code, obj)
	for subresource, want := range map[string]int{"": 3, "/status": 2} {
		code, st := apitest.Do(t, srv, "PATCH", path+"/a"+subresource, `{"metadata":{"labels":{"a b":"c"}}}`)
		assert.Equal(t, 422, code)
		assert.Len(t, object.List(st, "details", "causes"), want, subresource)
	}
}
