package websocket

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// handshake returns the header of a handshake with further pairs of a name and a value.
func handshake(pairs ...string) http.Header {
	h := http.Header{}
	for i, all := 0, append([]string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "http://x"}, pairs...); i < len(all); i += 2 {
		if h.Set(all[i], all[i+1]); all[i+1] == "" {
			h.Del(all[i])
		}
	}
	return h
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name     string
		header   http.Header
		protocol string
		refused  *HandshakeError
	}{
		{"plain", handshake(), "", nil},
		{"subprotocol", handshake("Sec-WebSocket-Protocol", " foo"), "foo", nil},
		{"two subprotocols", handshake("Sec-WebSocket-Protocol", "foo, bar"), "", errProtocol},
		{"no key", handshake("Sec-WebSocket-Key", ""), "", errKey},
		{"no version", handshake("Sec-WebSocket-Version", ""), "", errVersion},
		{"another version", handshake("Sec-WebSocket-Version", "8"), "", errVersion},
		{"no Origin", handshake("Origin", ""), "", errForbidden},
		{"Origin that is no URL", handshake("Origin", "foo"), "", errForbidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			protocol, refused := check(tt.header)
			assert.Equal(t, tt.protocol, protocol)
			assert.Equal(t, tt.refused, refused)
		})
	}
	assert.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", acceptKey("dGhlIHNhbXBsZSBub25jZQ=="), "the example of RFC 6455")
}

func TestToken(t *testing.T) {
	encoded := tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte("secret"))
	for _, tt := range []struct {
		name, protocols, token string
		others                 []string
		fails                  bool
	}{
		{"none", "foo, bar", "", []string{"foo", "bar"}, false},
		{"first", encoded + ", foo", "secret", []string{"foo"}, false},
		{"last", "foo," + encoded, "secret", []string{"foo"}, false},
		{"alone", encoded, "", nil, true},
		{"two", encoded + "," + encoded + ",foo", "", nil, true},
		{"padded", encoded + "==, foo", "", nil, true},
		{"no UTF-8", tokenPrefix + "_w, foo", "", nil, true},
		{"empty", tokenPrefix + ", foo", "", []string{"foo"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token, others, err := Token(handshake(protocolHeader, tt.protocols))
			assert.Equal(t, tt.fails, err != nil)
			assert.Equal(t, tt.token, token)
			assert.Equal(t, tt.others, others)
		})
	}
	token, _, err := Token(handshake(protocolHeader, encoded+", foo", "Upgrade", "h2c"))
	assert.NoError(t, err)
	assert.Empty(t, token, "only a WebSocket has tokens in its subprotocols")
}

func TestIsRequest(t *testing.T) {
	for _, tt := range []struct {
		name, upgrade, connection string
		want                      bool
	}{
		{"usual", "websocket", "keep-alive, Upgrade", true},
		{"case", "WebSocket", "UPGRADE", true},
		{"another protocol", "h2c", "Upgrade", false},
		{"no upgrade", "websocket", "keep-alive", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, IsRequest(handshake("Upgrade", tt.upgrade, "Connection", tt.connection)))
		})
	}
}
