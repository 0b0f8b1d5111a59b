//go:build go1.25

package controllers_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

// On a running clock the Pods that fail within a second are counted together.
func TestJobBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cluster{fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithControllers("job-controller,serviceaccount-controller"), fakeapi.WithNamespaces("shop")), t}
		synctest.Wait()
		const namespace = "/namespaces/shop/"
		c.Do(http.MethodPost, "/apis/batch/v1"+namespace+"jobs", jobWith(`"parallelism":3,"completions":3,"backoffLimit":0,`))
		synctest.Wait()
		pods := c.List("pods", "")
		require.Len(t, pods, 3, "a new Job does not wait")
		failed := func() any {
			t.Helper()
			o := c.Get("jobs", "shop", "pi")
			require.NotNil(t, o)
			return object.Value(o, "status", "failed")
		}
		for _, pod := range pods {
			c.Do(http.MethodPatch, "/api/v1"+namespace+"pods/"+pod.Name()+"/status", `{"status":{"phase":"Failed"}}`)
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
			assert.Nil(t, failed())
		}
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		assert.EqualValues(t, 3, failed())
	})
}
