package control

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/story"
)

// eventsPath is the path below Prefix of the stream of what happens. It is no Operation, because
// its answer has no end.
const eventsPath = "events"

const (
	// eventsInterval is how often a stream looks for news. Writes wake nobody, so that
	// they cost the same with and without streams.
	eventsInterval = 100 * time.Millisecond
	// quietInterval is how often a stream without news sends an empty line, so that the
	// server learns that the client has left.
	quietInterval = 15 * time.Second
)

// events answers with server-sent events, each of them a part of the story; see
// [story.Follower]. It begins after the position of the query since or of the header
// Last-Event-ID, which is the ID of an event: INSTANCE-POSITION. Of another instance of the
// server, and without one, it begins with all that the journal has. A client that reads too
// slowly misses what the journal drops.
//
// See https://html.spec.whatwg.org/multipage/server-sent-events.html.
func (c *Control) events(r *Request) Answer {
	since := r.LastEventID
	if since == "" {
		since = r.Query.Get("since")
	}
	return Answer{ContentType: "text/event-stream", Stream: func(send func([]byte) error) error {
		var of SecretsQuery
		decodeQuery(r.Query, reflect.ValueOf(&of).Elem())
		f := story.Follow(c.source(r.Host, c.scrubber(of.ShowSecrets)), c.position(since))
		tick := time.NewTicker(eventsInterval)
		defer tick.Stop()
		sent := time.Now()
		for {
			var message []byte
			if part := f.Next(c.cluster.Clock().Now()); part != nil {
				data, err := json.Marshal(part)
				if err != nil {
					return err
				}
				message = fmt.Appendf(nil, "id: %s-%d\ndata: %s\n\n", c.instance(), f.Position(), data)
			} else if time.Since(sent) >= quietInterval {
				message = []byte(":\n\n")
			}
			if message != nil {
				if err := send(message); err != nil {
					return err
				}
				sent = time.Now()
			}
			select {
			case <-tick.C:
			case <-r.Context.Done():
				return nil
			case <-c.cluster.Context().Done():
				return nil
			}
		}
	}}
}

// instance identifies the server among those that had its address before.
func (c *Control) instance() string { return strconv.FormatInt(c.started.UnixNano(), 36) }

// position returns the position of an event ID; 0 for one of another instance.
func (c *Control) position(id string) int64 {
	instance, position, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(position, 10, 64)
	if err != nil || instance != c.instance() || n < 0 || n > c.cluster.Journal().Order() {
		return 0
	}
	return n
}
