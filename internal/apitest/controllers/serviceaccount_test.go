package controllers_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

func TestServiceAccount(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "serviceaccount-controller", fakeapi.WithNamespaces("shop"))
	require.Nil(t, c.Get("serviceaccounts", "shop", "default"), "nothing happens before Settle")

	c.Settle()
	account := c.Get("serviceaccounts", "shop", "default")
	require.NotNil(t, account)
	writes := c.Writes(0)
	last := writes[len(writes)-1]
	assert.Equal(t, "system:serviceaccount:kube-system:service-account-controller", last.Writer.User)

	require.NoError(t, c.Remove("serviceaccounts", "shop", "default"))
	c.Settle()
	again := c.Get("serviceaccounts", "shop", "default")
	require.NotNil(t, again)
	assert.NotEqual(t, account.ResourceVersion(), again.ResourceVersion(), "a deleted one is created again")
}
