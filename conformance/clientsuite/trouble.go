package clientsuite

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// trouble is a transport that makes watches fail as networks and compaction
// do. Its choices follow from the seed and the order of the requests.
type trouble struct {
	next    http.RoundTripper
	compact func() error

	mu       sync.Mutex
	random   *rand.Rand
	cuts     int // watches still to be cut
	expiries int // resumed watches still to be sent with a version long gone
	cut      int // watches cut
	expired  int // watches sent with a version long gone
	streamed int // watches that asked for the initial events
}

// counts tells what happened so far.
func (r *trouble) counts() (cut, expired, streamed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut, r.expired, r.streamed
}

func (r *trouble) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Query().Get("watch") == "" {
		return r.next.RoundTrip(req)
	}
	expire, events := r.plan(req)
	if expire {
		if err := r.compact(); err != nil {
			return nil, err
		}
		query := req.URL.Query()
		query.Set("resourceVersion", "1")
		req = req.Clone(req.Context())
		req.URL.RawQuery = query.Encode()
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil || events == 0 || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	resp.Body = &cutBody{
		ReadCloser: resp.Body,
		frames:     framesOf(resp.Header.Get("Content-Type")),
		events:     events,
		onCut:      r.countCut,
	}
	return resp, nil
}

// plan decides on a watch: whether its version is to be one long gone, and
// after how many events to cut it, 0 for never.
func (r *trouble) plan(req *http.Request) (expire bool, events int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	streams := req.URL.Query().Get("sendInitialEvents") != ""
	switch {
	case streams:
		r.streamed++
	case r.cut > 0 && r.expiries > 0:
		r.expiries--
		r.expired++
		expire = true
	}
	if r.cuts == 0 {
		return expire, 0
	}
	// At least one: client-go takes a watch that brought nothing for a sign
	// that it should list again.
	events = 1 + r.random.IntN(4)
	if streams && r.streamed > 1 {
		// Only the first initial events are disturbed.
		events += maxObjects + 1
	}
	return expire, events
}

func (r *trouble) countCut() (ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cuts == 0 {
		return false
	}
	r.cuts--
	r.cut++
	return true
}

// cutBody is a stream of events that breaks in the event after some whole ones,
// if onCut agrees then.
type cutBody struct {
	io.ReadCloser
	frames frames
	events int // whole ones still to pass
	onCut  func() bool
	broken bool
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.broken {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p)
	for at := 0; b.events > 0 && at < n; {
		size, whole := b.frames.next(p[at:n])
		at += size
		if !whole {
			break
		}
		b.events--
		if b.events == 0 && b.onCut() {
			b.broken = true
			return at + (n-at)/2, nil
		}
	}
	return n, err
}

// frames finds the ends of events in a stream that comes in pieces.
type frames interface {
	// next returns how much of p belongs to the current event, and whether
	// the event ends there.
	next(p []byte) (size int, whole bool)
}

// framesOf returns the framing of watches in a media type.
func framesOf(contentType string) frames {
	if strings.HasPrefix(contentType, "application/vnd.kubernetes.protobuf") {
		return &prefixed{}
	}
	return lines{}
}

// lines are events that end with a newline.
type lines struct{}

func (lines) next(p []byte) (int, bool) {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1, true
	}
	return len(p), false
}

// prefixed are events after their lengths, four bytes, the highest first.
type prefixed struct {
	header int // bytes of the length seen
	left   int // the length so far, then what is missing of the event
}

func (f *prefixed) next(p []byte) (int, bool) {
	at := 0
	for ; f.header < 4 && at < len(p); at++ {
		f.left = f.left<<8 | int(p[at])
		f.header++
	}
	n := min(f.left, len(p)-at)
	if f.header < 4 || n < f.left {
		if f.header == 4 {
			f.left -= n
			at += n
		}
		return at, false
	}
	*f = prefixed{}
	return at + n, true
}
