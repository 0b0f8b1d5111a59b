package serviceaccounttoken_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

const (
	shop    = "/api/v1/namespaces/shop"
	account = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"shop","name":"robot"},"secrets":[{"name":"t"},{"name":"other"}]}`
	secret  = `{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"namespace":"shop","name":"t","annotations":{"kubernetes.io/service-account.name":"robot"}}}`
)

func start(t *testing.T) *fakeapi.Server {
	return controllertest.Start(t, "serviceaccount-token-controller", fakeapi.WithNamespaces("shop"), fakeapi.WithTLS())
}

// A Secret gets a token by which its ServiceAccount authenticates, until the Secret is
// gone.
func TestToken(t *testing.T) {
	srv := start(t)
	controllertest.Put(t, srv, account)
	controllertest.Do(t, srv, "POST", shop+"/secrets", secret)
	controllertest.Settle(t, srv)
	s, err := srv.Get("secrets", "shop", "t")
	require.NoError(t, err)
	data := map[string]string{}
	for k, v := range s["data"].(map[string]any) {
		b, err := base64.StdEncoding.DecodeString(v.(string))
		require.NoError(t, err)
		data[k] = string(b)
	}
	assert.Equal(t, "shop", data["namespace"])
	assert.Equal(t, string(srv.CAData), data["ca.crt"])
	review := func() fakeapi.Object {
		return controllertest.Do(t, srv, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+data["token"]+`"}}`)
	}
	assert.Equal(t, "system:serviceaccount:shop:robot", controllertest.Field(review(), "status", "user", "username"))

	revision := srv.Revision()
	controllertest.Settle(t, srv)
	assert.Equal(t, revision, srv.Revision(), "nothing is written twice")

	controllertest.Delete(t, srv, shop+"/secrets/t", "")
	controllertest.Settle(t, srv)
	sa, err := srv.Get("serviceaccounts", "shop", "robot")
	require.NoError(t, err)
	assert.Equal(t, []any{map[string]any{"name": "other"}}, sa["secrets"], "the reference is removed")
	assert.Nil(t, controllertest.Field(review(), "status", "authenticated"))
}

func TestNoAccount(t *testing.T) {
	srv := start(t)
	controllertest.Put(t, srv, secret)
	controllertest.Settle(t, srv)
	assert.Empty(t, controllertest.Names(t, srv, "secrets"), "a token without a ServiceAccount is deleted")

	controllertest.Put(t, srv, account, secret)
	controllertest.Settle(t, srv)
	assert.Equal(t, []string{"shop/t"}, controllertest.Names(t, srv, "secrets"))
	controllertest.Delete(t, srv, shop+"/serviceaccounts/robot", "")
	controllertest.Settle(t, srv)
	assert.Empty(t, controllertest.Names(t, srv, "secrets"), "tokens go with their ServiceAccount")
}
