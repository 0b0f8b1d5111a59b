package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestNames(t *testing.T) {
	bundle := validation.ClusterTrustBundleName("acme.io/ca")
	for _, tc := range []struct {
		name   string
		check  validation.NameFunc
		value  string
		prefix bool
		want   []string
	}{
		{"subdomain", validation.SubdomainName, "a.b", false, nil},
		{"subdomain with a dash last", validation.SubdomainName, "web-", false, []string{subdomainText}},
		{"prefix with a dash last", validation.SubdomainName, "web-", true, nil},
		{"prefix with a wrong character before the dash", validation.SubdomainName, "web_-", true, nil},
		{"prefix with a wrong character before that", validation.SubdomainName, "we_b-", true, []string{subdomainText}},
		{"prefix of a dash", validation.SubdomainName, "-", true, []string{subdomainText}},
		{"label", validation.LabelName, "a.b", false, []string{"must not contain dots"}},
		{"label prefix", validation.LabelName, "0-", true, nil},
		{"1035 label prefix", validation.DNS1035LabelName, "b-", true, nil},
		{"complete name", validation.UnprefixedName, "A", false, []string{subdomainText}},
		{"prefix of a complete name", validation.UnprefixedName, "A", true, nil},
		{"path segment", validation.PathSegmentName, "..", false, []string{"may not be '..'"}},
		{"path segment's prefix", validation.PathSegmentName, "..", true, nil},
		{"role", validation.RBACName, "system:node", false, nil},
		{"role's prefix", validation.RBACName, "..", true, []string{"may not be '..'"}},
		{"signing request", validation.AnyName, "any thing", false, nil},
		{"lease candidate", validation.LeaseCandidateName, "A_b.c-", false, nil},
		{"address", validation.IPAddressName, "10.0.0.1", false, nil},
		{"address not canonical", validation.IPAddressName, "FE80::", false, []string{`must be in canonical form ("fe80::")`}},
		{"storage version", validation.StorageVersionName, "apps.deployments", false, nil},
		{"storage version without a group", validation.StorageVersionName, "deployments", false, []string{"name must be in the form of <group>.<resource>"}},
		{"storage version of a bad group", validation.StorageVersionName, "A.b", false, []string{"the group segment " + subdomainText}},
		{"bundle", bundle, "acme.io:ca:a", false, nil},
		{"bundle without its signer", bundle, "a", false, []string{"ClusterTrustBundle for signerName acme.io/ca must be named with prefix acme.io:ca:"}},
		{"bundle without a signer", validation.ClusterTrustBundleName(""), "a:b", false, []string{`ClusterTrustBundle without signer name must not have ":" in its name`}},
		{"definition", validation.DefinitionName("foos", "x.io"), "foos.x.io", false, nil},
		{"definition with two errors", validation.DefinitionName("foos", "x.io"), "Foos", false, []string{subdomainText, `must be spec.names.plural+"."+spec.group`}},
		{"API service", validation.APIServiceName("v1", "x.io"), "v1.x.io", false, nil},
		{"API service of the legacy group", validation.APIServiceName("v1", ""), "v1.", false, nil},
		{"API service with another name", validation.APIServiceName("v1", "x.io"), "x", false, []string{"must be `spec.version+\".\"+spec.group`: \"v1.x.io\""}},
		{"API service with a slash", validation.APIServiceName("v1", "x.io"), "/", false, []string{"may not contain '/'"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, tc.check(tc.value, tc.prefix))
		})
	}
}
