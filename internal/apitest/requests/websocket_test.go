package requests_test

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubefake/kubefake/fakeapi"
	"github.com/kubefake/kubefake/internal/apitest"
)

// A socket is the client's side of a WebSocket.
type socket struct {
	net.Conn
	*bufio.Reader
	t *testing.T
}

// dial opens a WebSocket with pairs of header names and values. The socket is nil if the
// server refuses it.
func dial(t *testing.T, srv *fakeapi.Server, path string, pairs ...string) (*http.Response, *socket) {
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	req, err := http.NewRequest("GET", srv.URL+path, nil)
	require.NoError(t, err)
	for i, all := 0, append([]string{"Upgrade", "websocket", "Connection", "Upgrade", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", srv.URL}, pairs...); i < len(all); i += 2 {
		req.Header.Set(all[i], all[i+1])
	}
	require.NoError(t, req.Write(conn))
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	require.NoError(t, err)
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, nil
	}
	return resp, &socket{conn, r, t}
}

// next returns the opcode and the payload of the next frame.
func (s *socket) next() (op byte, payload string) {
	var head [2]byte
	_, err := io.ReadFull(s.Reader, head[:])
	require.NoError(s.t, err)
	n := int(head[1])
	if n == 126 {
		var long [2]byte
		_, err = io.ReadFull(s.Reader, long[:])
		require.NoError(s.t, err)
		n = int(binary.BigEndian.Uint16(long[:]))
	}
	b := make([]byte, n)
	_, err = io.ReadFull(s.Reader, b)
	require.NoError(s.t, err)
	return head[0] & 0x0f, string(b)
}

// send sends a short masked frame.
func (s *socket) send(op byte, payload string) {
	_, err := s.Conn.Write(append([]byte{0x80 | op, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...))
	require.NoError(s.t, err)
}

const (
	textFrame, binaryFrame, closeFrame, pingFrame, pongFrame = 1, 2, 8, 9, 10

	closedNormally, protocolError = "\x03\xe8", "\x03\xea"
)

func TestWebSocketWatch(t *testing.T) {
	const path = "/api/v1/namespaces/default/configmaps?watch=1&allowWatchBookmarks=true"
	srv := fakeapi.Start(t, fakeapi.WithObjects(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kube-root-ca.crt","namespace":"default"}}`))
	t.Run("JSON", func(t *testing.T) {
		resp, s := dial(t, srv, path, "Sec-WebSocket-Protocol", "foo")
		require.NotNil(t, s)
		assert.Equal(t, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", resp.Header.Get("Sec-WebSocket-Accept"))
		assert.Equal(t, "foo", resp.Header.Get("Sec-WebSocket-Protocol"))
		op, event := s.next()
		assert.Equal(t, byte(textFrame), op)
		assert.Contains(t, event, `{"type":"ADDED","object":{"kind":"ConfigMap"`)
		_, event = s.next()
		assert.Contains(t, event, `"type":"BOOKMARK"`)
		code, _ := apitest.Do(t, srv, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"new"}}`)
		assert.Equal(t, 201, code)
		_, event = s.next()
		assert.Contains(t, event, `"name":"new"`)
		s.send(pingFrame, "hi")
		op, payload := s.next()
		assert.Equal(t, byte(pongFrame), op)
		assert.Equal(t, "hi", payload)
		s.send(textFrame, "ignored")
		s.send(closeFrame, closedNormally)
		op, payload = s.next()
		assert.Equal(t, byte(closeFrame), op)
		assert.Equal(t, closedNormally, payload)
		_, err := s.Reader.ReadByte()
		assert.ErrorIs(t, err, io.EOF)
	})
	t.Run("protobuf", func(t *testing.T) {
		_, s := dial(t, srv, path, "Accept", "application/vnd.kubernetes.protobuf;stream=watch")
		require.NotNil(t, s)
		op, event := s.next()
		assert.Equal(t, byte(binaryFrame), op)
		assert.Equal(t, "\n\x05ADDED", event[:7], "the event has no length before it")
	})
	t.Run("frame without a mask", func(t *testing.T) {
		_, s := dial(t, srv, path+"&resourceVersion=1000000")
		require.NotNil(t, s)
		_, err := s.Conn.Write([]byte{0x81, 1, 'x'})
		require.NoError(t, err)
		for _, want := range []string{protocolError, closedNormally} {
			op, payload := s.next()
			assert.Equal(t, byte(closeFrame), op)
			assert.Equal(t, want, payload)
		}
	})
	t.Run("end of the watch", func(t *testing.T) {
		_, s := dial(t, srv, path+"&timeoutSeconds=-1")
		require.NotNil(t, s)
		op, _ := s.next()
		assert.Equal(t, byte(closeFrame), op)
	})
	for _, tt := range []struct {
		name, path, header, value string
		code                      int
	}{
		{"bad version", path, "Sec-WebSocket-Version", "8", 400},
		{"two subprotocols", path, "Sec-WebSocket-Protocol", "foo, bar", 400},
		{"media type without a stream", path, "Accept", "application/yaml", 406},
		{"wrong options", path + "&resourceVersion=x", "X", "x", 500},
		{"no watch", "/version", "X", "x", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, _ := dial(t, srv, tt.path, tt.header, tt.value)
			assert.Equal(t, tt.code, resp.StatusCode)
		})
	}
	t.Run("end of the server", func(t *testing.T) {
		_, s := dial(t, srv, path)
		require.NotNil(t, s)
		srv.Close()
		_, err := io.Copy(io.Discard, s.Reader)
		if err != nil {
			assert.ErrorContains(t, err, "reset")
		}
	})
}

// Browsers send the token of a WebSocket as a subprotocol.
func TestWebSocketToken(t *testing.T) {
	token := func(text string) string {
		return "base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	srv := fakeapi.Start(t, fakeapi.WithRBAC(), fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice"}))
	for _, tt := range []struct {
		name, protocols, authorization string
		code                           int
	}{
		{"administrator", token("root-token") + ", foo", "", 101},
		{"after another token that is wrong", token("root-token") + ", foo", "Bearer zz", 101},
		{"user without rights", "foo, " + token("alice-token"), "", 403},
		{"unknown", token("zz") + ", foo", "", 401},
		{"alone", token("root-token"), "", 401},
		{"not needed, and so left", token("alice-token") + ", foo", "Bearer root-token", 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, _ := dial(t, srv, "/api/v1/configmaps?watch=1", "Sec-WebSocket-Protocol", tt.protocols, "Authorization", tt.authorization)
			assert.Equal(t, tt.code, resp.StatusCode)
			if tt.code == 101 {
				assert.Equal(t, "foo", resp.Header.Get("Sec-WebSocket-Protocol"))
			}
		})
	}
}
