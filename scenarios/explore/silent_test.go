package explore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/scenarios/explore"
)

// A search ends soon if the system fails until it is not started again.
func TestSystemThatFails(t *testing.T) {
	began := time.Now()
	_, err := explore.Search(context.Background(), explore.System{
		Start: func(context.Context, *fakeapi.Server) error { return errors.New("no configuration") },
		Pace:  explore.Pace{Restart: time.Millisecond, Quiet: time.Millisecond, Hold: time.Millisecond},
	})
	var silent *explore.NoRequestError
	require.ErrorAs(t, err, &silent)
	assert.Equal(t, "no configuration", silent.Exit)
	assert.Less(t, time.Since(began), 30*time.Second)
}

// A search logs that the system has made no request long before it gives up.
func TestSystemThatIsSilent(t *testing.T) {
	needsBubble(t)
	bubble(t, func() {
		began := time.Now()
		noticed := map[string]time.Duration{}
		_, err := explore.Search(context.Background(), explore.System{
			Options: []fakeapi.Option{fakeapi.WithInMemory()},
			Start: func(ctx context.Context, _ *fakeapi.Server) error {
				<-ctx.Done()
				return nil
			},
			Log: func(line string) { noticed[line] = time.Since(began).Round(time.Second) },
		})
		var silent *explore.NoRequestError
		require.ErrorAs(t, err, &silent)
		assert.GreaterOrEqual(t, time.Since(began), time.Minute)
		assert.Equal(t, map[string]time.Duration{"the system has made no request to its server for 5s; a run waits 1m0s for the first one": 5 * time.Second}, noticed)
	})
}
