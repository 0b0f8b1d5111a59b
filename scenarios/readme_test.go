package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
)

// A controller passes the scenario in the README.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	text := regexp.MustCompile("(?s)```yaml\n(area: shop\n.*?)```").FindSubmatch(readme)
	require.NotNil(t, text)
	name := filepath.Join(t.TempDir(), "replicas.yaml")
	require.NoError(t, os.WriteFile(name, text[1], 0o644))

	srv := fakeapi.Start(t, fakeapi.WithManualClock(epoch))
	done := make(chan error, 1)
	go func() { done <- copySettings(srv.Client(), srv.URL) }()
	Play(t, srv, name)
	srv.Close()
	assert.NoError(t, <-done)
}

// copySettings is a controller that copies the data of ConfigMaps named settings to
// one named status in the same namespace. It ends when its watch does.
func copySettings(client *http.Client, url string) error {
	maps, err := client.Get(url + "/api/v1/configmaps?watch=1&fieldSelector=metadata.name%3Dsettings")
	if err != nil {
		return err
	}
	defer maps.Body.Close()
	for events := json.NewDecoder(maps.Body); ; {
		var e struct{ Object fakeapi.Object }
		if events.Decode(&e) != nil {
			return nil
		}
		status, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "status"}, "data": e.Object["data"],
		})
		if err != nil {
			return err
		}
		collection := url + "/api/v1/namespaces/" + e.Object.Namespace() + "/configmaps"
		for code := http.StatusConflict; code == http.StatusConflict; {
			// The fault applies to updates: a PUT of an existing object.
			if code, err = send(client, http.MethodPut, collection+"/status", string(status)); err != nil {
				return err
			}
			if code == http.StatusNotFound {
				if code, err = send(client, http.MethodPost, collection, string(status)); err != nil {
					return err
				}
			}
		}
	}
}

func send(client *http.Client, method, url, body string) (int, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "controller/1.0")
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	if err := resp.Body.Close(); err != nil {
		return 0, err
	}
	if resp.StatusCode >= 500 {
		return 0, fmt.Errorf("%s %s: %s", method, url, resp.Status)
	}
	return resp.StatusCode, nil
}
