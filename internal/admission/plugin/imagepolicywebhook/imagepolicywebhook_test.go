package imagepolicywebhook

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigure(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("clusters: [{name: c, cluster: {server: 'https://hook'}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n"), 0o600))
	normal := settings{kubeconfig, 5 * time.Minute, 30 * time.Second, 500 * time.Millisecond, false}
	for _, tt := range []struct {
		name, text string
		want       settings
		err        string
	}{
		{"defaults", "imagePolicy: {kubeConfigFile: " + kubeconfig + "}", normal, ""},
		{"JSON", `{"imagePolicy": {"kubeConfigFile": "` + kubeconfig + `", "allowTTL": 60, "denyTTL": -1, "retryBackoff": 1, "defaultAllow": true}}`, settings{kubeconfig, time.Minute, 0, time.Millisecond, true}, ""},
		{"a time that is too long", "imagePolicy: {kubeConfigFile: " + kubeconfig + ", allowTTL: 1801}", settings{}, "valid value is between 1s and 30m0s, got 30m1s"},
		{"a negative time", "imagePolicy: {kubeConfigFile: " + kubeconfig + ", retryBackoff: -2}", settings{}, "valid value is between 1ns and 5m0s, got -2ms"},
		{"nothing", "", settings{}, "EOF"},
		{"no YAML", "[", settings{}, "error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		{"another type", "imagePolicy: {allowTTL: a}", settings{}, "error unmarshaling JSON: while decoding JSON: imagePolicy.allowTTL: expected a whole number, not a string"},
		{"no file", "imagePolicy: {kubeConfigFile: none}", settings{}, "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Configure([]byte(tt.text), 0)
			if tt.err != "" {
				assert.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, p.settings)
			assert.Equal(t, "https://hook", p.cluster.URL)
		})
	}
	_, err := Configure(nil, 0)
	assert.EqualError(t, err, "no config specified")
}
