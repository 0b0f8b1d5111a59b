package serviceaccount_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

func TestDefaultServiceAccount(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	srv := fakeapi.Start(t, fakeapi.WithControllers("serviceaccount-controller"), fakeapi.WithManualClock(start), fakeapi.WithNamespaces("shop"))
	_, err := srv.Get("serviceaccounts", "shop", "default")
	require.ErrorIs(t, err, fakeapi.ErrNotFound, "nothing happens before Settle")

	require.NoError(t, srv.Settle(context.Background()))
	account, err := srv.Get("serviceaccounts", "shop", "default")
	require.NoError(t, err)
	writes := srv.Writes(0)
	last := writes[len(writes)-1]
	assert.Equal(t, "system:serviceaccount:kube-system:service-account-controller", last.Writer.User)

	require.NoError(t, srv.Remove("serviceaccounts", "shop", "default"))
	require.NoError(t, srv.Settle(context.Background()))
	again, err := srv.Get("serviceaccounts", "shop", "default")
	require.NoError(t, err)
	assert.NotEqual(t, account.ResourceVersion(), again.ResourceVersion(), "a deleted one is created again")
}
