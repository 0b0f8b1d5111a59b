package ttlafterfinished_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

func job(name, ttl, condition string) string {
	return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"shop","name":%q},"spec":{%s
"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
"status":{"conditions":[{"type":%q,"status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, name, ttl, condition)
}

func TestJobs(t *testing.T) {
	srv := controllertest.Start(t, "ttl-after-finished-controller,garbage-collector-controller", fakeapi.WithNamespaces("shop"))
	controllertest.Put(t, srv,
		job("complete", `"ttlSecondsAfterFinished":60,`, "Complete"), job("failed", `"ttlSecondsAfterFinished":120,`, "Failed"),
		job("running", `"ttlSecondsAfterFinished":60,`, "Suspended"), job("kept", "", "Complete"), job("raised", `"ttlSecondsAfterFinished":60,`, "Complete"))
	controllertest.Settle(t, srv)
	controllertest.Do(t, srv, "PATCH", "/apis/batch/v1/namespaces/shop/jobs/raised", `{"spec":{"ttlSecondsAfterFinished":600}}`)
	after := func(d time.Duration) []string {
		require.NoError(t, srv.Clock().Advance(d))
		return controllertest.Names(t, srv, "jobs")
	}
	assert.Len(t, after(59*time.Second), 5)
	assert.Equal(t, []string{"shop/failed", "shop/kept", "shop/raised", "shop/running"}, after(time.Second))
	assert.Equal(t, []string{"shop/kept", "shop/raised", "shop/running"}, after(time.Minute))
	assert.Equal(t, []string{"shop/kept", "shop/running"}, after(time.Hour))
}
