// Package websocket serves WebSocket connections with the rules of kube-apiserver's
// library: the handshake of a watch needs an Origin and at most one subprotocol, that of
// an exec a subprotocol that the server knows.
//
// See RFC 6455.
package websocket

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubefake/kubefake/internal/header"
)

// IsRequest reports whether the header of a request asks for a WebSocket.
func IsRequest(h http.Header) bool {
	if !strings.EqualFold(header.Get(h, "Upgrade"), "websocket") {
		return false
	}
	for _, value := range h.Values("Connection") {
		if strings.Contains(strings.ToLower(value), "upgrade") {
			return true
		}
	}
	return false
}

// An Opcode is the type of a frame.
type Opcode byte

// The opcodes of RFC 6455 that this package uses.
const (
	Continuation Opcode = 0 // of the message of the frame before
	Text         Opcode = 1
	Binary       Opcode = 2

	opClose Opcode = 8
	opPing  Opcode = 9
	opPong  Opcode = 10
)

const (
	version        = "13" // of the protocol
	closedNormally = 1000 // codes of close frames
	protocolError  = 1002
	maxControl     = 125  // longest payload of a control frame, in bytes
	final          = 0x80 // bit of the first byte of a frame
	masked         = 0x80 // bit of the second byte
)

// A Conn is a WebSocket connection of a client. It is safe for concurrent use.
type Conn struct {
	conn net.Conn
	read *bufio.Reader

	mu    sync.Mutex // guards write
	write *bufio.Writer
}

// A HandshakeError is why the server refused a handshake. It has answered the client
// and closed the connection.
type HandshakeError struct {
	Code   int // the status of the answer
	Reason string
}

func (e *HandshakeError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Reason) }

// Upgrade answers the handshake of a request, for which IsRequest is true. It fails
// with a *HandshakeError, or with an error of the connection.
func Upgrade(w http.ResponseWriter, r *http.Request) (*Conn, error) { return upgrade(w, r, check) }

// UpgradeTo is Upgrade with the first subprotocol of the client that is one of protocols.
// It needs no Origin. A client without such a subprotocol is refused with 403.
func UpgradeTo(w http.ResponseWriter, r *http.Request, protocols []string) (*Conn, error) {
	return upgrade(w, r, func(h http.Header) (string, *HandshakeError) {
		if refused := checkVersion(h); refused != nil {
			return "", refused
		}
		for _, value := range h.Values(protocolHeader) {
			for _, protocol := range strings.Split(value, ",") {
				if protocol = strings.TrimSpace(protocol); slices.Contains(protocols, protocol) {
					return protocol, nil
				}
			}
		}
		return "", errForbidden
	})
}

func upgrade(w http.ResponseWriter, r *http.Request, check func(http.Header) (protocol string, refused *HandshakeError)) (*Conn, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	c := &Conn{conn: conn, read: buffered.Reader, write: buffered.Writer}
	protocol, refused := check(r.Header)
	if refused != nil {
		fmt.Fprintf(c.write, "HTTP/1.1 %03d %s\r\n", refused.Code, http.StatusText(refused.Code))
		if refused == errVersion {
			c.write.WriteString("Sec-WebSocket-Version: " + version + "\r\n")
		}
		c.write.WriteString("\r\n" + refused.Reason)
		c.write.Flush()
		conn.Close()
		return nil, refused
	}
	c.write.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + acceptKey(r.Header.Get("Sec-Websocket-Key")) + "\r\n")
	if protocol != "" {
		c.write.WriteString("Sec-WebSocket-Protocol: " + protocol + "\r\n")
	}
	c.write.WriteString("\r\n")
	if err := c.write.Flush(); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

var (
	errKey       = &HandshakeError{http.StatusBadRequest, "mismatch challenge/response"}
	errVersion   = &HandshakeError{http.StatusBadRequest, "missing or bad WebSocket Version"}
	errForbidden = &HandshakeError{Code: http.StatusForbidden}
	errProtocol  = &HandshakeError{Code: http.StatusBadRequest}
)

// check returns the subprotocol of a handshake, "" without one, or why it is refused.
func check(h http.Header) (protocol string, refused *HandshakeError) {
	if refused := checkVersion(h); refused != nil {
		return "", refused
	}
	if _, err := url.ParseRequestURI(h.Get("Origin")); err != nil {
		return "", errForbidden
	}
	protocol = strings.TrimSpace(h.Get(protocolHeader))
	if strings.Contains(protocol, ",") {
		return "", errProtocol
	}
	return protocol, nil
}

// checkVersion returns why a handshake is not one of the protocol, nil if it is.
func checkVersion(h http.Header) *HandshakeError {
	switch {
	case h.Get("Sec-Websocket-Key") == "":
		return errKey
	case h.Get("Sec-Websocket-Version") != version:
		return errVersion
	}
	return nil
}

// acceptKey returns the answer to the key of a handshake.
func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Send sends a message in one frame.
func (c *Conn) Send(op Opcode, message []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := append(c.write.AvailableBuffer(), final|byte(op))
	switch n := len(message); {
	case n <= maxControl:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	c.write.Write(head)
	c.write.Write(message)
	return c.write.Flush()
}

// Discard is Receive of frames that nobody reads.
func (c *Conn) Discard() {
	c.Receive(func(Opcode, io.Reader) error { return nil })
}

// Receive calls handle with each frame that has data, until the client closes the
// connection or breaks the protocol, or handle fails. It answers pings. What handle does
// not read of a frame is discarded.
func (c *Conn) Receive(handle func(op Opcode, payload io.Reader) error) {
	for {
		op, isMasked, payload, err := c.next()
		switch {
		case err != nil:
			return
		case !isMasked:
			c.sendClose(protocolError)
			return
		case op == opClose:
			return
		case op == opPing:
			err = c.pong(payload)
		default:
			if err = handle(op, payload); err == nil {
				_, err = io.Copy(io.Discard, payload)
			}
		}
		if err != nil {
			return
		}
	}
}

// next reads the header of a frame and returns its payload, without its mask.
func (c *Conn) next() (op Opcode, isMasked bool, payload io.Reader, err error) {
	var head [8]byte
	if _, err = io.ReadFull(c.read, head[:2]); err != nil {
		return 0, false, nil, err
	}
	op, isMasked = Opcode(head[0]&0x0f), head[1]&masked != 0
	n, extended := uint64(head[1]&^masked), 0
	switch n {
	case 126:
		extended = 2
	case 127:
		extended = 8
	}
	if extended > 0 {
		clear(head[:])
		if _, err = io.ReadFull(c.read, head[8-extended:]); err != nil {
			return 0, false, nil, err
		}
		n = binary.BigEndian.Uint64(head[:]) &^ (1 << 63)
	}
	payload = io.LimitReader(c.read, int64(n))
	if isMasked {
		m := &unmasked{Reader: payload}
		if _, err = io.ReadFull(c.read, m.key[:]); err != nil {
			return 0, false, nil, err
		}
		payload = m
	}
	return op, isMasked, payload, nil
}

// An unmasked reads a payload and takes its mask away.
type unmasked struct {
	io.Reader
	key  [4]byte
	next int // index in key
}

func (u *unmasked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	for i := range b[:n] {
		b[i] ^= u.key[u.next]
		u.next = (u.next + 1) % len(u.key)
	}
	return n, err
}

// pong answers a ping with the first bytes of its payload.
func (c *Conn) pong(payload io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(payload, maxControl))
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, payload); err != nil {
		return err
	}
	return c.Send(opPong, b)
}

func (c *Conn) sendClose(code uint16) error {
	return c.Send(opClose, binary.BigEndian.AppendUint16(nil, code))
}

// Close ends the connection with a close frame.
func (c *Conn) Close() error {
	err := c.sendClose(closedNormally)
	if closeErr := c.conn.Close(); err == nil {
		err = closeErr
	}
	return err
}

// Break makes writes fail, also one that blocks while the client does not read.
func (c *Conn) Break() { c.conn.Close() }
