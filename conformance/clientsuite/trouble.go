package clientsuite

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
)

// trouble is a transport that cuts watches and lets their versions expire. The seed
// and the order of the requests determine its choices.
type trouble struct {
	next    http.RoundTripper
	compact func() error

	mu       sync.Mutex
	random   *rand.Rand
	cuts     int // watches left to cut
	expiries int // resumed watches left to send with an expired version
	cut      int // watches cut
	expired  int // watches sent with an expired version
	streamed int // watches that asked for the initial events
}

// counts returns the numbers of watches cut, expired and streamed so far.
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

// plan decides whether a watch is sent with an expired version, and after how many
// events it is cut; 0 is never.
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
	// At least one: client-go lists again after a watch without events.
	events = 1 + r.random.IntN(4)
	if streams && r.streamed > 1 {
		// Cut only the first stream within its initial events.
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

// cutBody is a stream of events that fails within the event that follows some
// complete ones, if onCut returns true then.
type cutBody struct {
	io.ReadCloser
	frames frames
	events int // complete events left before the cut
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

// frames finds the ends of events in a stream that is read in parts.
type frames interface {
	// next returns the number of bytes of p that belong to the current event,
	// and reports whether the event ends there.
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

// prefixed are events that follow their length in four bytes, big-endian.
type prefixed struct {
	header int // bytes of the length seen
	left   int // the length so far, then the bytes missing from the event
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
