package server

import (
	"context"
	"net/http"
	"sync"

	"github.com/kubefake/kubefake/internal/codec"
	"github.com/kubefake/kubefake/internal/websocket"
)

// A webSocketWriter is the ResponseWriter of a watch over a WebSocket: it sends each
// event as a message. Other answers than 200 do not use the WebSocket.
type webSocketWriter struct {
	http.ResponseWriter
	request *http.Request
	cancel  context.CancelFunc // of the request's context
	closed  context.Context    // ends with the server

	conn    *websocket.Conn // nil before the handshake
	err     error           // of the handshake
	format  codec.Format
	partial []byte // incomplete event at the end of the last Write
	reader  sync.WaitGroup
	forget  []func() bool // stop waiting for the end of the contexts
}

// webSocket makes the answer of a watch that asks for a WebSocket use one. The caller
// calls end after the answer.
func (r *request) webSocket() (end func()) {
	if r.remote != nil || r.Verb != "watch" || !websocket.IsRequest(r.http.Header) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(r.http.Context())
	w := &webSocketWriter{ResponseWriter: r.w.ResponseWriter, request: r.http, cancel: cancel, closed: r.server.streams}
	r.http, r.w.ResponseWriter = r.http.WithContext(ctx), w
	return w.end
}

// WriteHeader implements [http.ResponseWriter].
func (w *webSocketWriter) WriteHeader(code int) {
	format, isStream := codec.StreamFormat(w.Header().Get("Content-Type"))
	if code != http.StatusOK || !isStream {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.format = format
	if w.conn, w.err = websocket.Upgrade(w.ResponseWriter, w.request); w.err != nil {
		return
	}
	for _, ctx := range []context.Context{w.request.Context(), w.closed} {
		w.forget = append(w.forget, context.AfterFunc(ctx, w.conn.Break))
	}
	w.reader.Add(1)
	go func() {
		defer w.reader.Done()
		w.conn.Discard()
		w.cancel()
	}()
}

// Write implements [http.ResponseWriter].
func (w *webSocketWriter) Write(b []byte) (int, error) {
	switch {
	case w.err != nil:
		return 0, w.err
	case w.conn == nil:
		return w.ResponseWriter.Write(b)
	}
	w.partial = append(w.partial, b...)
	events := w.partial
	for n := w.format.NextEvent(events); n > 0; n = w.format.NextEvent(events) {
		op, message := websocket.Binary, events[:n]
		switch w.format {
		case codec.JSON:
			op = websocket.Text
		case codec.Protobuf:
			message = message[4:] // without its length
		}
		if err := w.conn.Send(op, message); err != nil {
			return 0, err
		}
		events = events[n:]
	}
	w.partial = append(w.partial[:0], events...)
	return len(b), nil
}

// FlushError implements the interface of [http.ResponseController].
func (w *webSocketWriter) FlushError() error {
	if w.conn == nil && w.err == nil {
		return http.NewResponseController(w.ResponseWriter).Flush()
	}
	return w.err
}

// end closes the WebSocket.
func (w *webSocketWriter) end() {
	if w.conn != nil {
		w.conn.Close()
		w.reader.Wait()
		for _, forget := range w.forget {
			forget()
		}
	}
	w.cancel()
}
