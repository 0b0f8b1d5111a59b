package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

func finishedJob(name, ttl, condition string) string {
	return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"shop","name":%q},"spec":{%s
"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}},
"status":{"conditions":[{"type":%q,"status":"True","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, name, ttl, condition)
}

func TestTTLAfterFinished(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "ttl-after-finished-controller,garbage-collector-controller", fakeapi.WithNamespaces("shop"))
	c.Put(
		finishedJob("complete", `"ttlSecondsAfterFinished":60,`, "Complete"), finishedJob("failed", `"ttlSecondsAfterFinished":120,`, "Failed"),
		finishedJob("running", `"ttlSecondsAfterFinished":60,`, "Suspended"), finishedJob("kept", "", "Complete"), finishedJob("raised", `"ttlSecondsAfterFinished":60,`, "Complete"))
	c.Settle()
	c.MergePatch("/apis/batch/v1/namespaces/shop/jobs/raised", `{"spec":{"ttlSecondsAfterFinished":600}}`)
	after := func(d time.Duration) []string {
		require.NoError(t, c.Clock().Advance(d))
		return c.Names("jobs")
	}
	assert.Len(t, after(59*time.Second), 5)
	assert.Equal(t, []string{"shop/failed", "shop/kept", "shop/raised", "shop/running"}, after(time.Second))
	assert.Equal(t, []string{"shop/kept", "shop/raised", "shop/running"}, after(time.Minute))
	assert.Equal(t, []string{"shop/kept", "shop/running"}, after(time.Hour))
}
