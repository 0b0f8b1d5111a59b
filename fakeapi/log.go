package fakeapi

import (
	"fmt"
	"strings"
	"time"
)

// A Request is a request that the server has answered.
type Request struct {
	Time      time.Time     `json:"time"` // when it came, on the server's clock
	Method    string        `json:"method"`
	URI       string        `json:"uri"`
	User      string        `json:"user,omitempty"`
	UserAgent string        `json:"userAgent,omitempty"`
	Code      int           `json:"code"`
	Bytes     int64         `json:"bytes"` // of the answer's body
	Duration  time.Duration `json:"duration"`
	// Revision is the version of the state that it read, or of its newest
	// write; 0 if it did neither.
	Revision int64 `json:"revision,omitempty"`
	// Message is that of the failure, if it was one.
	Message string `json:"message,omitempty"`
	// Unimplemented marks a request that a kube-apiserver would have answered
	// and this server cannot.
	Unimplemented bool `json:"unimplemented,omitempty"`
	// Panic is the trace of a bug of the server that the request hit.
	Panic string `json:"panic,omitempty"`
}

// String is the request on one line.
func (r Request) String() string {
	line := fmt.Sprintf("%d %s %s (%s)", r.Code, r.Method, r.URI, r.UserAgent)
	if r.Message != "" {
		line += ": " + r.Message
	}
	return line
}

// A Revision is one write.
type Revision struct {
	Revision int64     `json:"revision"`
	Time     time.Time `json:"time"`
	// Writer is who made it; the zero value if that is forgotten.
	Writer  Writer   `json:"writer"`
	Changes []Change `json:"changes"`
}

// A Writer is who made a write.
type Writer struct {
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Manager is the field manager of the write.
	Manager string `json:"manager,omitempty"`
	Verb    string `json:"verb"`
}

// A Change is what a write did to one object.
type Change struct {
	Type string `json:"type"` // ADDED, MODIFIED or DELETED
	Key  string `json:"key"`  // "/pods/default/a", "/deployments.apps/default/b"
}

// shownChanges is how many changes of a revision are printed.
const shownChanges = 10

// String is the revision on one line.
func (r Revision) String() string {
	var changes []string
	for i, c := range r.Changes {
		if i == shownChanges {
			changes = append(changes, fmt.Sprintf("and %d more", len(r.Changes)-i))
			break
		}
		changes = append(changes, c.Type+" "+c.Key)
	}
	return fmt.Sprintf("%d %s by %s %s (%s)", r.Revision, strings.Join(changes, ", "), r.Writer.Verb, r.Writer.User, r.Writer.UserAgent)
}
