package crossorigin_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/internal/crossorigin"
)

func TestParseOrigins(t *testing.T) {
	for _, row := range []struct {
		name     string
		patterns []string
		err      string
	}{
		{"none", nil, ""},
		{"a host", []string{`^https://example\.com$`}, ""},
		{"a host with any port", []string{`//example\.com(:|$)`}, ""},
		{"empty", []string{""}, "empty value in --cors-allowed-origins, help: List of allowed origins for CORS"},
		{"not an expression", []string{"^("}, "--cors-allowed-origins has an invalid regular expression: error parsing regexp: missing closing ): `^(`, help: "},
		{"any beginning", []string{`example\.com$`}, "regular expression does not pin to start/end of host in the origin header"},
		{"any end", []string{`^example\.com`}, "regular expression does not pin to start/end of host in the origin header"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, errs := crossorigin.ParseOrigins(row.patterns)
			if row.err == "" {
				assert.Empty(t, errs)
			} else if assert.Len(t, errs, 1) {
				assert.ErrorContains(t, errs[0], row.err)
			}
		})
	}
}

func TestAllowedOrigins(t *testing.T) {
	origins, errs := crossorigin.ParseOrigins([]string{`^https://a\.example$`, `//b\.example(:|$)`})
	require.Empty(t, errs)
	for origin, allowed := range map[string]bool{
		"https://a.example":      true,
		"https://a.example:8443": false,
		"http://b.example:8080":  true,
		"https://c.example":      false,
		"null":                   false,
	} {
		r := request(http.MethodPost, "127.0.0.1", "", nil)
		r.Host = "localhost:8080"
		r.Header.Set("Origin", origin)
		assert.Equal(t, allowed, origins.Allows(r), origin)
		if err := crossorigin.Check(r, nil, origins); allowed {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, "CORSAllowedOrigins")
		}
	}
	r := request(http.MethodGet, "127.0.0.1", "", nil)
	assert.False(t, origins.Allows(r), "without an origin")
}
