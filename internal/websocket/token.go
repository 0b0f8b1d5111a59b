package websocket

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"
)

const (
	protocolHeader = "Sec-Websocket-Protocol"

	// tokenPrefix is the prefix of the subprotocol that carries a bearer token.
	tokenPrefix = "base64url.bearer.authorization.k8s.io."
)

// Token returns the bearer token that a handshake carries as a subprotocol, "" if it
// has none, and the other subprotocols. Browsers cannot send a token in another way.
// It fails for several tokens, for one that does not decode, and for one without
// another subprotocol.
func Token(h http.Header) (token string, others []string, err error) {
	if !IsRequest(h) {
		return "", nil, nil
	}
	seen := false
	for _, value := range h.Values(protocolHeader) {
		for _, protocol := range strings.Split(value, ",") {
			protocol = strings.TrimSpace(protocol)
			encoded, ok := strings.CutPrefix(protocol, tokenPrefix)
			switch {
			case !ok:
				others = append(others, protocol)
				continue
			case seen:
				return "", nil, errors.New("several tokens in Sec-WebSocket-Protocol")
			}
			seen = true
			b, err := base64.RawURLEncoding.DecodeString(encoded)
			if err != nil || !utf8.Valid(b) {
				return "", nil, errors.New("the token in Sec-WebSocket-Protocol is not valid")
			}
			token = string(b)
		}
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("no subprotocol beside the token in Sec-WebSocket-Protocol")
	}
	return token, others, nil
}

// SetProtocols replaces the subprotocols of a handshake.
func SetProtocols(h http.Header, protocols []string) {
	h.Set(protocolHeader, strings.Join(protocols, ","))
}
