package server

import (
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/kubefake/kubefake/internal/controllers/lifecycle"
	"github.com/kubefake/kubefake/internal/object"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/internal/websocket"
)

// The subprotocols of exec over a WebSocket, the preferred one first. A message begins
// with a byte, its channel. Of v5 the client may say that a channel ends.
var execProtocols = []string{"v5.channel.k8s.io", "v4.channel.k8s.io"}

// The channels of exec.
const (
	channelStdin = iota
	channelStdout
	channelStderr
	channelError // a Status at the end
	_            // sizes of the terminal
	channelClose = 255
)

// podExec runs a command by what a test has set. Without, there is no kubelet to ask.
// SPDY, which clients use if they have no WebSocket, is not implemented.
func (r *request) podExec() error {
	container, run, err := r.execTarget()
	if err != nil {
		return err
	}
	conn, err := websocket.UpgradeTo(r.w.ResponseWriter, r.http, execProtocols)
	if err != nil {
		return nil // the client has its answer
	}
	r.runCommand(conn, container, run)
	return nil
}

// execTarget returns the container of the request, and what runs commands in it.
func (r *request) execTarget() (container string, run lifecycle.Runner, err error) {
	if err := r.authorizeUpgrade(); err != nil {
		return "", nil, err
	}
	pod, err := r.connectedPod(r.Name)
	if err != nil {
		return "", nil, err
	}
	name := r.query().Get("container")
	if err := checkContainer(pod, name); err != nil {
		return "", nil, err
	}
	container = containerOf(pod, name)
	run, ok := r.server.manager.Lifecycle().RunOf(r.Namespace, labelsOf(pod), container)
	switch {
	case !ok || object.String(pod, "spec", "nodeName") == "":
		return "", nil, r.connectPodNode(pod)
	case !websocket.IsRequest(r.http.Header):
		return "", nil, status.NotImplemented("pods/exec: only over a WebSocket, not over SPDY")
	}
	return container, run, nil
}

// runCommand runs the command of the request and closes the connection, also if run panics
// or ends its goroutine: run is a function of a test.
func (r *request) runCommand(conn *websocket.Conn, container string, run lifecycle.Runner) {
	ctx, cancel := context.WithCancel(r.ctx())
	received := make(chan struct{})
	defer func() { <-received }()
	defer conn.Break()
	defer cancel()
	defer context.AfterFunc(ctx, conn.Break)()
	defer context.AfterFunc(r.server.streams, conn.Break)()

	q := r.query()
	is := func(name string) bool { b := boolOf(q, name); return b != nil && *b }
	input, feed := io.Pipe()
	defer input.Close()
	if !is("stdin") {
		feed.Close()
	}
	go func() {
		defer close(received)
		defer cancel()
		receiveStdin(conn, feed)
	}()
	output := func(name string, channel byte) io.Writer {
		if !is(name) {
			return io.Discard
		}
		conn.Send(websocket.Binary, []byte{channel}) // says that the connection is established
		return &channelWriter{conn, channel}
	}
	code := run(ctx, lifecycle.Command{
		Namespace: r.Namespace, Pod: r.Name, Container: container, Args: q["command"], TTY: is("tty"),
		Stdin: input, Stdout: output("stdout", channelStdout), Stderr: output("stderr", channelStderr),
	})
	input.Close() // what the client sends is discarded
	if b, err := json.Marshal(exitStatus(code)); err == nil {
		(&channelWriter{conn, channelError}).Write(b)
	}
	conn.Close()
}

// exitStatus returns the Status of a command that has ended.
func exitStatus(code int) *status.Status {
	if code == 0 {
		return &status.Status{Kind: "Status", APIVersion: "v1", Status: "Success"}
	}
	text := strconv.Itoa(code)
	return &status.Status{
		Kind: "Status", APIVersion: "v1", Status: "Failure", Reason: "NonZeroExitCode", Message: "command terminated with non-zero exit code: exit status " + text,
		Details: &status.Details{Causes: []status.Cause{{Reason: "ExitCode", Message: text}}},
	}
}

// receiveStdin writes what a client sends for the standard input to feed, and closes it at
// the end.
func receiveStdin(conn *websocket.Conn, feed *io.PipeWriter) {
	defer feed.Close()
	var channel [1]byte
	conn.Receive(func(op websocket.Opcode, frame io.Reader) error {
		if op != websocket.Continuation {
			if _, err := io.ReadFull(frame, channel[:]); err != nil {
				return nil // an empty message
			}
		}
		switch channel[0] {
		case channelStdin:
			io.Copy(feed, frame) // fails if nobody reads
		case channelClose:
			var ended [1]byte
			if _, err := io.ReadFull(frame, ended[:]); err == nil && ended[0] == channelStdin {
				feed.Close()
			}
		}
		return nil
	})
}

// A channelWriter sends what is written as messages of a channel.
type channelWriter struct {
	conn    *websocket.Conn
	channel byte
}

// Write implements [io.Writer].
func (w *channelWriter) Write(b []byte) (int, error) {
	if err := w.conn.Send(websocket.Binary, append([]byte{w.channel}, b...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
