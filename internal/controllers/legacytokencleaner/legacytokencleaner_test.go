package legacytokencleaner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/controllers/controllertest"
)

const (
	day  = 24 * time.Hour
	year = 365 * day

	tracking = `{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-apiserver-legacy-service-account-token-tracking, namespace: kube-system}, data: {since: "%s"}}`
	account  = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: u}, secrets: [{name: token}]}`
	pod      = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, %s}]}}`
)

func secret(created time.Time, labels string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, namespace: shop, creationTimestamp: "%s",
  annotations: {kubernetes.io/service-account.name: robot, kubernetes.io/service-account.uid: u}, labels: {%s}}}`, created.Format(time.RFC3339), labels)
}

func TestTokens(t *testing.T) {
	now := controllertest.StartTime
	old := secret(now.Add(-2*year), "")
	date := func(before time.Duration) string { return now.Add(-before).Format(time.DateOnly) }
	tests := []struct {
		name    string
		tracked time.Duration // before now
		objects []string
		want    string // "kept", "marked", "deleted"
	}{
		{"unused for a year", 2 * year, []string{account, old}, "marked"},
		{"tracked for less than a year", year, []string{account, old}, "kept"},
		{"created this year", 2 * year, []string{account, secret(now.Add(-year+day), "")}, "kept"},
		{"used this year", 2 * year, []string{account, secret(now.Add(-2*year), "kubernetes.io/legacy-token-last-used: '"+date(day)+"'")}, "kept"},
		{"used before", 2 * year, []string{account, secret(now.Add(-3*year), "kubernetes.io/legacy-token-last-used: '"+date(year+day)+"'")}, "marked"},
		{"not generated", 2 * year, []string{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: u}}`, old}, "kept"},
		{"of another ServiceAccount", 2 * year, []string{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: w}, secrets: [{name: token}]}`, old}, "kept"},
		{"mounted", 2 * year, []string{account, old, fmt.Sprintf(pod, "secret: {secretName: token}")}, "kept"},
		{"projected", 2 * year, []string{account, old, fmt.Sprintf(pod, "projected: {sources: [{secret: {name: token}}]}")}, "kept"},
		{"another one mounted", 2 * year, []string{account, old, fmt.Sprintf(pod, "secret: {secretName: other}")}, "marked"},
		{"invalid for less than a year", 2 * year, []string{account, secret(now.Add(-3*year), "kubernetes.io/legacy-token-invalid-since: '"+date(year)+"'")}, "kept"},
		{"invalid for a year", 2 * year, []string{account, secret(now.Add(-3*year), "kubernetes.io/legacy-token-invalid-since: '"+date(year+day)+"'")}, "deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := controllertest.StartCluster(t, "", fakeapi.WithNamespaces("shop"))
			c.Put(fmt.Sprintf(tracking, date(tt.tracked)))
			for _, o := range tt.objects {
				c.Put(o)
			}
			assert.NoError(t, c.SetControllers("legacy-serviceaccount-token-cleaner-controller"))
			before := c.Get("secrets", "shop", "token")
			c.Settle(0)
			o := c.Get("secrets", "shop", "token")
			switch {
			case tt.want == "deleted":
				assert.Nil(t, o)
			case tt.want == "marked":
				assert.Equal(t, date(0), controllertest.Field(o, "metadata", "labels", "kubernetes.io/legacy-token-invalid-since"))
			default:
				assert.Equal(t, before, o)
			}
		})
	}
}

func TestPeriod(t *testing.T) {
	c := controllertest.StartCluster(t, "legacy-serviceaccount-token-cleaner-controller", fakeapi.WithNamespaces("shop"))
	c.Put(fmt.Sprintf(tracking, controllertest.StartTime.Add(-2*year).Format(time.DateOnly)))
	c.Put(account)
	c.Put(secret(controllertest.StartTime.Add(-2*year), ""))
	c.Wait(day)
	assert.NotNil(t, c.Get("secrets", "shop", "token"))
	c.Wait(year + day)
	assert.Nil(t, c.Get("secrets", "shop", "token"), "it is marked after a day, and deleted a year after that")
}
