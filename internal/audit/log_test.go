package audit

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSourceIPs(t *testing.T) {
	for _, tt := range []struct {
		name, remote, forwardedFor, realIP, want string
	}{
		{"direct", "10.0.0.1:80", "", "", `["10.0.0.1"]`},
		{"IPv6", "[fd00::1]:80", "", "", `["fd00::1"]`},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:80", "", "", `["10.0.0.1"]`},
		{"proxies", "10.0.0.1:80", "1.2.3.4, 5.6.7.8", "", `["1.2.3.4","5.6.7.8","10.0.0.1"]`},
		{"last proxy", "10.0.0.1:80", "1.2.3.4,10.0.0.1", "", `["1.2.3.4","10.0.0.1"]`},
		{"real address", "10.0.0.1:80", "1.2.3.4", "5.6.7.8", `["1.2.3.4","5.6.7.8","10.0.0.1"]`},
		{"real address of a proxy", "10.0.0.1:80", "1.2.3.4", "1.2.3.4", `["1.2.3.4","10.0.0.1"]`},
		{"no addresses", "pipe", "unknown, _hidden", "x", `null`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.remote, Header: http.Header{"X-Forwarded-For": {tt.forwardedFor}, "X-Real-Ip": {tt.realIP}}}
			text, err := json.Marshal(sourceIPs(r))
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(text))
		})
	}
}
