package audit

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubefake/kubefake/internal/authn"
	"github.com/kubefake/kubefake/internal/authz"
	"github.com/kubefake/kubefake/internal/metrics"
	"github.com/kubefake/kubefake/internal/validation"
)

// An Event is a line of the log: an Event of audit.k8s.io/v1.
type Event struct {
	Kind                     string                  `json:"kind"`
	APIVersion               string                  `json:"apiVersion"`
	Level                    string                  `json:"level"`
	AuditID                  string                  `json:"auditID"`
	Stage                    string                  `json:"stage"`
	RequestURI               string                  `json:"requestURI"`
	Verb                     string                  `json:"verb"`
	User                     User                    `json:"user"`
	ImpersonatedUser         *User                   `json:"impersonatedUser,omitempty"`
	AuthenticationMetadata   *AuthenticationMetadata `json:"authenticationMetadata,omitempty"`
	SourceIPs                []netip.Addr            `json:"sourceIPs,omitempty"`
	UserAgent                string                  `json:"userAgent,omitempty"`
	ObjectRef                *ObjectReference        `json:"objectRef,omitempty"`
	ResponseStatus           *ResponseStatus         `json:"responseStatus,omitempty"`
	RequestObject            json.RawMessage         `json:"requestObject,omitempty"`
	ResponseObject           json.RawMessage         `json:"responseObject,omitempty"`
	RequestReceivedTimestamp string                  `json:"requestReceivedTimestamp"`
	StageTimestamp           string                  `json:"stageTimestamp"`
	Annotations              map[string]string       `json:"annotations,omitempty"`

	omit []string
}

// AuthenticationMetadata says how a request was authenticated.
type AuthenticationMetadata struct {
	// ImpersonationConstraint is the verb of the constrained impersonation that was
	// authorized.
	ImpersonationConstraint string `json:"impersonationConstraint,omitempty"`
}

// microTime is the form of times in events.
const microTime = "2006-01-02T15:04:05.000000Z"

// maxUserAgent is the longest user agent that is logged whole.
const maxUserAgent = 1024

// NewEvent returns the event of a request that a policy selects.
func NewEvent(s Selection, r *http.Request, received time.Time) *Event {
	agent := r.UserAgent()
	if len(agent) > maxUserAgent {
		agent = agent[:maxUserAgent] + "...TRUNCATED"
	}
	return &Event{
		Kind: "Event", APIVersion: "audit.k8s.io/v1", Level: s.Level,
		RequestURI: r.URL.RequestURI(), SourceIPs: sourceIPs(r), UserAgent: agent,
		RequestReceivedTimestamp: received.UTC().Format(microTime), omit: s.OmitStages,
	}
}

// AtLeast reports whether the event has what a level logs.
func (e *Event) AtLeast(level string) bool {
	return slices.Index(levels, e.Level) >= slices.Index(levels, level)
}

// Annotate adds an annotation, unless the event has one of the name. It ignores names
// that are not a prefix, a slash and a name.
func (e *Event) Annotate(name, value string) {
	if _, ok := e.Annotations[name]; ok || !strings.Contains(name, "/") || len(validation.QualifiedName(name)) > 0 {
		return
	}
	if e.Annotations == nil {
		e.Annotations = map[string]string{}
	}
	e.Annotations[name] = value
}

// sourceIPs returns the addresses of the client and its proxies, without what is no address.
func sourceIPs(r *http.Request) (ips []netip.Addr) {
	for _, part := range strings.Split(r.Header.Get("X-Forwarded-For"), ",") {
		if ip := validation.ParseIP(strings.TrimSpace(part)).Unmap(); ip.IsValid() {
			ips = append(ips, ip)
		}
	}
	if ip := validation.ParseIP(r.Header.Get("X-Real-Ip")).Unmap(); ip.IsValid() && !slices.Contains(ips, ip) {
		ips = append(ips, ip)
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if ip := validation.ParseIP(host).Unmap(); ip.IsValid() && (len(ips) == 0 || ips[len(ips)-1] != ip) {
		ips = append(ips, ip)
	}
	return ips
}

// A Log writes events. It is safe for concurrent use.
type Log struct {
	Policy *Policy

	levels           metrics.Values // of levelTotal
	events, rejected atomic.Int64

	mu       sync.Mutex // held while an event is written
	backends *Backends
}

// NewLog returns a log that writes to w. It writes each event with one call. A writer that is
// no [Backends] is the backend "log", which may lose events.
func NewLog(p *Policy, w io.Writer) *Log {
	b, ok := w.(*Backends)
	if !ok {
		b = &Backends{}
		b.Add(Backend{Plugin: "log", Writer: w})
	}
	return &Log{Policy: p, backends: b}
}

// Select returns what the policy says about a request, and counts it. See [Policy.Select].
func (l *Log) Select(u *authn.User, at *authz.Attributes) Selection {
	s := l.Policy.Select(u, at)
	l.levels.Add(levelTotal, s.Level)
	return s
}

// Begin writes the event of a request that was received. If it returns false, the event is lost,
// and the request must be refused.
func (l *Log) Begin(e *Event, now time.Time) bool {
	if l.Write(e, RequestReceived, now) == nil {
		return true
	}
	l.rejected.Add(1)
	return false
}

// Write writes an event at a stage, unless its policy omits the stage. The error is that of
// backends which must not lose events.
func (l *Log) Write(e *Event, stage string, now time.Time) error {
	if slices.Contains(e.omit, stage) {
		return nil
	}
	e.Stage, e.StageTimestamp = stage, now.UTC().Format(microTime)
	line, err := json.Marshal(e)
	if err != nil {
		panic("audit: " + err.Error()) // unreachable: objects in events are JSON
	}
	l.events.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.backends.Write(append(line, '\n'))
	return err
}
