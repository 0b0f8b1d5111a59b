//go:build go1.25

package webhook_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/webhook"
)

// In a bubble no connection is kept, because time would stand still while a goroutine waits for
// a socket.
func TestConnectionsInBubble(t *testing.T) {
	h := startHook(t, nil)
	synctest.Test(t, func(t *testing.T) {
		c := &webhook.Client{}
		for range 2 {
			_, err := c.Post(t.Context(), h.at("/a"), nil, 5*time.Second, nil)
			require.NoError(t, err)
			time.Sleep(time.Hour)
		}
		c.Close()
	})
	all, _ := h.connections()
	assert.Equal(t, 2, all)
}
