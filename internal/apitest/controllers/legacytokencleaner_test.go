package controllers_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/object"
)

const (
	day  = 24 * time.Hour
	year = 365 * day

	tokenTracking = `{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-apiserver-legacy-service-account-token-tracking, namespace: kube-system}, data: {since: "%s"}}`
	legacyAccount = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: u}, secrets: [{name: token}]}`
)

func legacyToken(created time.Time, labels string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, namespace: shop, creationTimestamp: "%s",
  annotations: {kubernetes.io/service-account.name: robot, kubernetes.io/service-account.uid: u}, labels: {%s}}}`, created.Format(time.RFC3339), labels)
}

func TestLegacyTokenCleaner(t *testing.T) {
	t.Parallel()
	now := startTime
	old := legacyToken(now.Add(-2*year), "")
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, %s}]}}`
	date := func(before time.Duration) string { return now.Add(-before).Format(time.DateOnly) }
	tests := []struct {
		name    string
		tracked time.Duration // before now
		objects []string
		want    string // "kept", "marked", "deleted"
	}{
		{"unused for a year", 2 * year, []string{legacyAccount, old}, "marked"},
		{"tracked for less than a year", year, []string{legacyAccount, old}, "kept"},
		{"created this year", 2 * year, []string{legacyAccount, legacyToken(now.Add(-year+day), "")}, "kept"},
		{"used this year", 2 * year, []string{legacyAccount, legacyToken(now.Add(-2*year), "kubernetes.io/legacy-token-last-used: '"+date(day)+"'")}, "kept"},
		{"used before", 2 * year, []string{legacyAccount, legacyToken(now.Add(-3*year), "kubernetes.io/legacy-token-last-used: '"+date(year+day)+"'")}, "marked"},
		{"not generated", 2 * year, []string{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: u}}`, old}, "kept"},
		{"of another ServiceAccount", 2 * year, []string{`{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: shop, uid: w}, secrets: [{name: token}]}`, old}, "kept"},
		{"mounted", 2 * year, []string{legacyAccount, old, fmt.Sprintf(pod, "secret: {secretName: token}")}, "kept"},
		{"projected", 2 * year, []string{legacyAccount, old, fmt.Sprintf(pod, "projected: {sources: [{secret: {name: token}}]}")}, "kept"},
		{"another one mounted", 2 * year, []string{legacyAccount, old, fmt.Sprintf(pod, "secret: {secretName: other}")}, "marked"},
		{"invalid for less than a year", 2 * year, []string{legacyAccount, legacyToken(now.Add(-3*year), "kubernetes.io/legacy-token-invalid-since: '"+date(year)+"'")}, "kept"},
		{"invalid for a year", 2 * year, []string{legacyAccount, legacyToken(now.Add(-3*year), "kubernetes.io/legacy-token-invalid-since: '"+date(year+day)+"'")}, "deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startCluster(t, "", fakeapi.WithNamespaces("shop"))
			c.Put(fmt.Sprintf(tokenTracking, date(tt.tracked)))
			c.Put(tt.objects...)
			assert.NoError(t, c.SetControllers("legacy-serviceaccount-token-cleaner-controller"))
			before := c.Get("secrets", "shop", "token")
			c.Settle()
			o := c.Get("secrets", "shop", "token")
			switch {
			case tt.want == "deleted":
				assert.Nil(t, o)
			case tt.want == "marked":
				assert.Equal(t, date(0), object.Value(o, "metadata", "labels", "kubernetes.io/legacy-token-invalid-since"))
			default:
				assert.Equal(t, before, o)
			}
		})
	}
}

func TestLegacyTokenCleanerPeriod(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "legacy-serviceaccount-token-cleaner-controller", fakeapi.WithNamespaces("shop"))
	c.Put(fmt.Sprintf(tokenTracking, startTime.Add(-2*year).Format(time.DateOnly)))
	c.Put(legacyAccount)
	c.Put(legacyToken(startTime.Add(-2*year), ""))
	c.Wait(day)
	assert.NotNil(t, c.Get("secrets", "shop", "token"))
	c.Wait(year + day)
	assert.Nil(t, c.Get("secrets", "shop", "token"), "it is marked after a day, and deleted a year after that")
}
