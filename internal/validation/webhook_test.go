package validation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/validation"
)

func TestWebhookURL(t *testing.T) {
	const form = "; desired format: https://host[/path]"
	for url, want := range map[string]string{
		"https://example.com/x": "",
		"http://example.com":    `url: Invalid value: "http": 'https' is the only allowed URL scheme` + form,
		"https:///x":            `url: Invalid value: "": host must be specified` + form,
		"https://u:p@h":         `url: Invalid value: "u:p": user information is not permitted in the URL`,
		"https://h#f":           `url: Invalid value: "f": fragments are not permitted in the URL`,
		"https://h?q":           `url: Invalid value: "q": query parameters are not permitted in the URL`,
		"://":                   `url: Required value: url must be a valid URL: parse "://": missing protocol scheme` + form,
	} {
		assert.Equal(t, want, validation.WebhookURL(url, validation.NewPath("url")).Message(), url)
	}
}

func TestWebhookService(t *testing.T) {
	for _, tt := range []struct {
		name    string
		service map[string]any
		want    string
	}{
		{"valid", map[string]any{"name": "n", "namespace": "s", "port": int64(443), "path": "/a/b/"}, ""},
		{"root", map[string]any{"name": "n", "namespace": "s", "port": int64(443), "path": "/"}, ""},
		{"empty", map[string]any{}, "[service.name: Required value, service.namespace: Required value, service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive]"},
		{"slashes", map[string]any{"name": "n", "namespace": "s", "port": int64(1), "path": "//"}, `service.path: Invalid value: "//": segment[0] may not be empty`},
		{"no slash", map[string]any{"name": "n", "namespace": "s", "port": int64(1), "path": "ab//c"}, `[service.path: Invalid value: "ab//c": must start with a '/', service.path: Invalid value: "ab//c": segment[1] may not be empty]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, validation.WebhookService(tt.service, validation.NewPath("service")).Message())
		})
	}
}
