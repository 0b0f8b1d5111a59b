package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/resource"
	"github.com/kubefake/kubefake/internal/status"
	"github.com/kubefake/kubefake/mvcc"
)

// ErrInvalidLag is returned for a negative lag, for one longer than history is
// kept, for a resource without a watch cache, and for a last revision older than
// what the watch cache has shown.
var ErrInvalidLag = errors.New("invalid lag")

// AllResources stands for all resources where a resource is named.
const AllResources = "*"

// Lag makes the watch cache of a resource, or of AllResources, lag behind the
// store. The zero Lag ends it. Gets and lists at resourceVersion=0 or with
// resourceVersionMatch=NotOlderThan, and watches, read the watch cache. Consistent
// reads and writes do not.
//
// Errors: ErrNotFound, ErrInvalidLag.
func (s *Server) Lag(name string, lag mvcc.Lag) error {
	if lag.By < 0 || lag.Revisions < 0 {
		return fmt.Errorf("%w: it is negative", ErrInvalidLag)
	}
	t, err := s.cachedType(name)
	if err != nil {
		return err
	}
	if at := s.store.CachedRevision(t); lag.Until > 0 && lag.Until < at {
		return fmt.Errorf("%w: the watch cache is at revision %d, and does not go back to %d", ErrInvalidLag, at, lag.Until)
	}
	note := journal.Note{Kind: journal.Lag, Text: lagText(lag), Revision: s.store.Revision()}
	if t != nil {
		note.Resource = strings.Trim(t.Prefix, "/")
	}
	if lag == (mvcc.Lag{}) {
		if len(s.store.Lags()) == 0 {
			return nil
		}
		note.Kind = journal.Thaw
	}
	if err := s.store.SetLag(t, lag); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidLag, err)
	}
	s.journal.RecordNote(note)
	return nil
}

// Frozen is the lag that stops a watch cache at its revision.
var Frozen = mvcc.Lag{Until: -1}

// cachedType returns the type of a resource, nil for AllResources.
func (s *Server) cachedType(name string) (*resource.Type, error) {
	if name == AllResources {
		return nil, nil
	}
	t := s.Registry().Find(name)
	if t == nil || t.Virtual() {
		return nil, fmt.Errorf("%w: resource %s", ErrNotFound, name)
	}
	return t, nil
}

// CachedRevision returns the revision of the watch cache of a resource, for
// AllResources the highest of them.
func (s *Server) CachedRevision(name string) (mvcc.Revision, error) {
	t, err := s.cachedType(name)
	if err != nil {
		return 0, err
	}
	return s.store.CachedRevision(t), nil
}

// lagText describes a lag in a few words.
func lagText(lag mvcc.Lag) string {
	if lag == (mvcc.Lag{}) {
		return "no lag"
	}
	var parts []string
	if lag.By > 0 {
		parts = append(parts, lag.By.String()+" behind")
	}
	if lag.Revisions > 0 {
		parts = append(parts, fmt.Sprintf("%d revisions behind", lag.Revisions))
	}
	switch {
	case lag.Until < 0:
		parts = append(parts, "frozen")
	case lag.Until > 0:
		parts = append(parts, fmt.Sprintf("frozen at %d", lag.Until))
	}
	return strings.Join(parts, ", ")
}

// A lagRequest makes a watch cache lag. If it has several limits, the strictest
// one applies.
type lagRequest struct {
	Resource  string        `json:"resource"`            // "pods", "deployments.apps"; "*", the default, is all
	By        string        `json:"by,omitempty"`        // a Go duration: "3s"
	Revisions int64         `json:"revisions,omitempty"` // a number of revisions
	Until     mvcc.Revision `json:"until,omitempty"`     // frozen at a revision
	Frozen    bool          `json:"frozen,omitempty"`    // frozen at the present revision
}

// A lagAnswer is the state of a watch cache that lags.
type lagAnswer struct {
	lagRequest
	Revision mvcc.Revision `json:"revision"`
}

func (s *Server) controlLags(*request) (any, error) {
	out := struct {
		Revision mvcc.Revision `json:"revision"`
		Lags     []lagAnswer   `json:"lags"`
	}{s.store.Revision(), []lagAnswer{}}
	for _, l := range s.store.Lags() {
		a := lagAnswer{lagRequest{
			Resource: cmp.Or(strings.Trim(l.Prefix, "/"), AllResources), Revisions: l.Lag.Revisions, Until: l.Lag.Until,
			Frozen: l.Lag.Until > 0 && l.Revision >= l.Lag.Until,
		}, l.Revision}
		if l.Lag.By > 0 {
			a.By = l.Lag.By.String()
		}
		out.Lags = append(out.Lags, a)
	}
	return out, nil
}

func (s *Server) controlLag(r *request) (any, error) {
	var in lagRequest
	if err := r.controlBody(&in); err != nil {
		return nil, err
	}
	lag := mvcc.Lag{Revisions: in.Revisions, Until: in.Until}
	if in.By != "" {
		var err error
		if lag.By, err = time.ParseDuration(in.By); err != nil {
			return nil, status.BadRequest(fmt.Sprintf("by: %q is not a duration, such as 3s", in.By))
		}
	}
	if in.Frozen {
		lag.Until = Frozen.Until
	}
	if err := s.Lag(cmp.Or(in.Resource, AllResources), lag); err != nil {
		return nil, lagStatus(err)
	}
	return s.controlLags(r)
}

func (s *Server) controlThaw(r *request) (any, error) {
	if err := s.Lag(cmp.Or(r.query().Get("resource"), AllResources), mvcc.Lag{}); err != nil {
		return nil, lagStatus(err)
	}
	return s.controlLags(r)
}

// lagStatus returns the failure for an error of Lag.
func lagStatus(err error) error {
	if errors.Is(err, ErrNotFound) {
		return status.Failure(http.StatusNotFound, status.ReasonNotFound, err.Error(), nil)
	}
	return status.BadRequest(err.Error())
}
