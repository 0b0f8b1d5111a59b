package encryption

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheck(t *testing.T) {
	const (
		head     = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
		rule     = head + "resources: [{resources: [secrets], providers: "
		identity = "providers: [{identity: {}}]}"
		key16    = "c2VjcmV0IGlzIHNlY3VyZQ=="
		parsing  = "error while parsing file: "
		at       = parsing + "resources[0].providers[0]."
		building = "error while building transformers: "
		overlap  = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
	)
	for _, tt := range []struct{ name, text, err string }{
		{"identity", rule + "[{identity: {}}]}]", ""},
		{"keys", rule + "[{aesgcm: {keys: [{name: a, secret: " + key16 + "}]}}, {aescbc: {keys: [{name: a, secret: " + key16 + "}]}}]}]", ""},
		{"KMS", rule + "[{kms: {apiVersion: v2, name: a, endpoint: unix:///a}}]}]", ""},
		{"wildcards of several rules", head + "resources: [{resources: [secrets], " + identity + ", {resources: ['*.'], " + identity + ", {resources: ['*.*'], " + identity + "]", ""},
		{"empty file", "", parsing + `error while loading file: encryption provider configuration file "FILE" is empty`},
		{"kind", "apiVersion: v1\nkind: Pod", parsing + `error decoding encryption provider configuration file "FILE": no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`},
		{"kind of another file", "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration", parsing + "got unexpected config type: apiserver.config.k8s.io/v1, Kind=AuthorizationConfiguration"},
		{"no rule", head, parsing + "resources: Required value: at least one resources is required"},
		{"empty rule", head + "resources: [{}]", parsing + "[resources[0].resources: Required value: at least one resources[0].resources is required, resources[0].providers: Required value: at least one resources[0].providers is required]"},
		{"resource again", head + "resources: [{resources: [a, b, a], " + identity + "]", parsing + `resources[0].resources: Invalid value: ["a","b","a"]: the same resource cannot be specified multiple times`},
		{"wildcard again", head + "resources: [{resources: ['*.a', '*.a'], " + identity + "]", parsing + `[resources[0].resources: Invalid value: ["*.a","*.a"]: the same resource cannot be specified multiple times, resources[0].resources: Invalid value: ["*.a","*.a"]: ` + overlap + "]"},
		{"wildcard of the group", head + "resources: [{resources: [b.a, '*.a', c], " + identity + "]", parsing + `resources[0].resources: Invalid value: ["b.a","*.a","c"]: ` + overlap},
		{"wildcard of all groups", head + "resources: [{resources: [a, '*.*'], " + identity + "]", parsing + `resources[0].resources: Invalid value: ["a","*.*"]: ` + overlap},
		{"wildcard of another group", head + "resources: [{resources: [b.c, '*.a', '*.'], " + identity + "]", ""},
		{"resources", head + "resources: [{resources: [A, serviceipallocations, '*.events.k8s.io', a.extensions, 'b.*'], " + identity + "]",
			parsing + `[resources[0].resources[0]: Invalid value: "A": resource name should not contain capital letters, resources[0].resources[1]: Invalid value: "serviceipallocations": resources which do not have REST API/s cannot be encrypted, ` +
				`resources[0].resources[2]: Invalid value: "*.events.k8s.io": '*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file, ` +
				`resources[0].resources[3]: Invalid value: "a.extensions": 'extensions' group has been removed and cannot be used for encryption, resources[0].resources[4]: Invalid value: "b.*": encrypting the same resource across groups is not supported]`},
		{"asterisk", head + "resources: [{resources: ['*'], " + identity + "]", parsing + `resources[0].resources[0]: Invalid value: "*": use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources`},
		{"empty provider", rule + "[{}]}]", parsing + `resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`},
		{"two providers", rule + "[{identity: {}, kms: {name: a, endpoint: unix:///a}}]}]", parsing + `resources[0].providers[0]: Invalid value: {"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":{},"KMS":{"APIVersion":"v1","Name":"a","CacheSize":1000,"Endpoint":"unix:///a","Timeout":"3s"}}: more than one provider specified in a single element, should split into different list elements`},
		{"no keys", rule + "[{aesgcm: {}}]}]", at + "aesgcm.keys: Required value: at least one keys is required"},
		{"empty key", rule + "[{aescbc: {keys: [{}]}}]}]", parsing + "[resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key, resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key]"},
		{"length of a key", rule + "[{secretbox: {keys: [{name: a, secret: " + key16 + "}]}}]}]", at + `secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]`},
		{"base64", rule + "[{aesgcm: {keys: [{name: a, secret: '*'}]}}]}]", at + `aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`},
		{"empty KMS", rule + "[{kms: {cachesize: 0, timeout: 0s}}]}]", parsing + `[resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider, resources[0].providers[0].kms.timeout: Invalid value: "0s": timeout should be a positive value, ` +
			`resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms, resources[0].providers[0].kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable]`},
		{"KMS of an unknown version", rule + "[{kms: {apiVersion: v3, name: 'a:b', endpoint: 'http://a', cachesize: 1}}]}]", parsing + `[resources[0].providers[0].kms.name: Invalid value: "a:b": invalid KMS provider name a:b, must not contain ':', resources[0].providers[0].kms.endpoint: Invalid value: "http://a": unsupported scheme "http" for KMS provider, only unix is supported, ` +
			`resources[0].providers[0].kms.cachesize: Invalid value: 1: cachesize is not supported in v2, resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported]`},
		{"name of KMS again", rule + "[{kms: {apiVersion: v2, name: a, endpoint: unix:///a}}, {kms: {apiVersion: v2, name: a, endpoint: unix:///a}}]}]", parsing + `resources[0].providers[1].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique`},
		{"KMS v1 is off", rule + "[{kms: {name: a, endpoint: unix:///a}}]}]", building + "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature."},
		{"masked by a group", head + "resources: [{resources: ['*.a'], " + identity + ", {resources: [b.a], " + identity + "]", building + `resource "b.a" is masked by earlier rule "*.a"`},
		{"masked by the core group", head + "resources: [{resources: ['*.'], " + identity + ", {resources: [b], " + identity + "]", building + `resource "b" is masked by earlier rule "*."`},
		{"masked by all", head + "resources: [{resources: ['*.*'], " + identity + ", {resources: ['*.'], " + identity + "]", building + `resource "*." is masked by earlier rule "*.*"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Check("FILE", []byte(tt.text), Options{Minor: 37})
			if tt.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, tt.err)
		})
	}
}

// With --encryption-provider-config-automatic-reload names of KMS v1 must be unique, too.
func TestCheckReload(t *testing.T) {
	const text = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: [{resources: [secrets], providers: [{kms: {name: a, endpoint: unix:///a}}, {kms: {name: a, endpoint: unix:///a}}]}]"
	assert.NoError(t, Check("FILE", []byte(text), Options{Minor: 37, KMSv1: true}))
	assert.EqualError(t, Check("FILE", []byte(text), Options{Minor: 37, KMSv1: true, Reload: true}),
		`error while parsing file: resources[0].providers[1].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique`)
}
