package csp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/csp"
)

func TestPolicy(t *testing.T) {
	const common = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:"
	assert.Equal(t, common, csp.Policy("", ""))
	// The example of https://www.w3.org/TR/CSP3/#external-hash.
	assert.Equal(t, common+"; script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='; style-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='", csp.Policy("alert('Hello, world.');", "alert('Hello, world.');"))
}

func TestElement(t *testing.T) {
	const html = `<style>a {}</style><script type="application/json">{}</script><script>b</script>`
	assert.Equal(t, "a {}", csp.Element(html, "style"))
	assert.Equal(t, "b", csp.Element(html, "script"))
	assert.Empty(t, csp.Element(html, "p"))
	assert.Empty(t, csp.Element("<p>", "p"))
}

func TestSetHeaders(t *testing.T) {
	h := http.Header{}
	csp.SetHeaders(h, csp.Policy("", ""))
	assert.Contains(t, h.Get("Content-Security-Policy"), "; frame-ancestors 'none'")
	assert.Equal(t, "DENY", h.Get("X-Frame-Options"))
}
