package controllers_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	robotAccount = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"shop","name":"robot"},"secrets":[{"name":"t"},{"name":"other"}]}`
	robotToken   = `{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/service-account-token","metadata":{"namespace":"shop","name":"t","annotations":{"kubernetes.io/service-account.name":"robot"}}}`
)

func startServiceAccountToken(t *testing.T) cluster {
	return startCluster(t, "serviceaccount-token-controller", fakeapi.WithNamespaces("shop"), fakeapi.WithTLS())
}

// A Secret gets a token by which its ServiceAccount authenticates, until the Secret is
// gone.
func TestServiceAccountToken(t *testing.T) {
	t.Parallel()
	c := startServiceAccountToken(t)
	c.Put(robotAccount)
	c.Do("POST", shopPath+"/secrets", robotToken)
	c.Settle()
	s := c.Get("secrets", "shop", "t")
	data := map[string]string{}
	for k, v := range s["data"].(map[string]any) {
		b, err := base64.StdEncoding.DecodeString(v.(string))
		require.NoError(t, err)
		data[k] = string(b)
	}
	assert.Equal(t, "shop", data["namespace"])
	assert.Equal(t, string(c.CAData), data["ca.crt"])
	review := func() fakeapi.Object {
		return c.Do(http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews", `{"spec":{"token":"`+data["token"]+`"}}`)
	}
	assert.Equal(t, "system:serviceaccount:shop:robot", object.Value(review(), "status", "user", "username"))

	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(data["token"], ".")[1])
	require.NoError(t, err)
	assert.JSONEq(t, `{"iss":"kubernetes/serviceaccount","sub":"system:serviceaccount:shop:robot","kubernetes.io/serviceaccount/namespace":"shop","kubernetes.io/serviceaccount/secret.name":"t",
		"kubernetes.io/serviceaccount/service-account.name":"robot","kubernetes.io/serviceaccount/service-account.uid":"`+object.Value(c.Get("serviceaccounts", "shop", "robot"), "metadata", "uid").(string)+`"}`, string(claims), "it does not expire")
	assert.Contains(t, object.Value(c.Get("secrets", "shop", "t"), "metadata", "labels"), "kubernetes.io/legacy-token-last-used", "the review has used it")

	revision := c.Revision()
	c.Settle()
	assert.Equal(t, revision, c.Revision(), "nothing is written twice")

	c.Delete(shopPath + "/secrets/t")
	c.Settle()
	sa := c.Get("serviceaccounts", "shop", "robot")
	assert.Equal(t, []any{map[string]any{"name": "other"}}, sa["secrets"], "the reference is removed")
	assert.Nil(t, object.Value(review(), "status", "authenticated"))
}

func TestServiceAccountTokenNoAccount(t *testing.T) {
	t.Parallel()
	c := startServiceAccountToken(t)
	c.Put(robotToken)
	c.Settle()
	assert.Empty(t, c.Names("secrets"), "a token without a ServiceAccount is deleted")

	c.Put(robotAccount, robotToken)
	c.Settle()
	assert.Equal(t, []string{"shop/t"}, c.Names("secrets"))
	c.Delete(shopPath + "/serviceaccounts/robot")
	c.Settle()
	assert.Empty(t, c.Names("secrets"), "tokens go with their ServiceAccount")
}
