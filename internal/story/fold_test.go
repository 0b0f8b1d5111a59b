package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubefake/kubefake/internal/journal"
)

// A record is a revision or a request in a test of folds. Revisions and requests are 1 ms apart.
type record struct {
	client   string
	lease    string // renewed Lease
	holder   string // new holder of the Lease
	event    string // reason of an Event that is created
	warning  string // its message, if it is a warning
	code     int    // of a PUT of the Pod called pod
	pod      string
	at       int64 // in milliseconds, if it is not 1 ms after the record before
	unserved bool  // the server does not implement the request
}

func foldsOf(records []record) *Story {
	s := &Story{Format: Format}
	now := int64(0)
	for i, rec := range records {
		now = max(now+1, rec.at)
		m := Moment{Order: int64(i + 1), At: now * 1000}
		who := Client{Name: rec.client}
		if rec.code != 0 {
			s.Requests = append(s.Requests, Request{Moment: m, Client: who, Method: "PUT", URI: "/" + rec.pod, Verb: "update", Target: pod(rec.pod), Code: rec.code, Message: "why", Unimplemented: rec.unserved})
			continue
		}
		c := Change{Type: journal.Modified}
		switch {
		case rec.event != "":
			c = Change{Type: journal.Added, Target: Target{"events", "default", fmt.Sprint("e", i)}, object: map[string]any{"reason": rec.event, "type": "Normal"}}
			if rec.warning != "" {
				c.object["type"], c.object["message"] = "Warning", rec.warning
			}
		default:
			c.Target = Target{"leases.coordination.k8s.io", "default", rec.lease}
			c.Fields = []Field{{Path: "spec.renewTime", Old: "2030-01-01T09:00:00.000000Z", New: "2030-01-01T09:00:02.000000Z"}}
			if rec.holder != "" {
				c.Fields = append([]Field{{Path: "spec.holderIdentity", Old: "x", New: rec.holder}}, c.Fields...)
			}
		}
		r := Revision{Moment: m, Revision: int64(i + 10), Verb: "update", Client: who, Changes: []Change{c}}
		r.Brief = r.brief()
		s.Revisions = append(s.Revisions, r)
	}
	s.Loops = s.loops()
	s.Folds = s.folds()
	return s
}

func TestFolds(t *testing.T) {
	for _, row := range []struct {
		name    string
		records []record
		want    []string // lines without times
	}{
		{
			"renewals of a Lease",
			[]record{{client: "manager", lease: "lock"}, {client: "manager", lease: "lock"}, {client: "manager", lease: "lock"}},
			[]string{"manager renewed leases.coordination.k8s.io default/lock 3 times, from r10 to r12"},
		},
		{
			"renewals of several Leases by several clients",
			[]record{{client: "kubelet", lease: "n1"}, {client: "kubelet", lease: "n2"}, {client: "manager", lease: "lock"}, {client: "kubelet", lease: "n1"}},
			[]string{"manager renewed leases.coordination.k8s.io default/lock, r12", "kubelet renewed leases.coordination.k8s.io default/n1, default/n2 3 times, from r10 to r13"},
		},
		{
			"another holder of a Lease",
			[]record{{client: "a", lease: "lock"}, {client: "b", lease: "lock", holder: "b"}, {client: "b", lease: "lock"}},
			[]string{
				"a renewed leases.coordination.k8s.io default/lock, r10",
				"r11   b update leases.coordination.k8s.io default/lock: spec.holderIdentity x → b, spec.renewTime 2030-01-01T09:00:00.000000Z → 2030-01-01T09:00:02.000000Z",
				"b renewed leases.coordination.k8s.io default/lock, r12",
			},
		},
		{
			"Events",
			[]record{{client: "scheduler", event: "Scheduled"}, {client: "scheduler", event: "FailedScheduling", warning: "no node"}, {client: "scheduler", event: "Scheduled"}, {client: "other", event: "Created"}},
			[]string{"scheduler wrote 3 events, from r10 to r12: Scheduled (2), FailedScheduling; the newest warning is FailedScheduling: no node", "other wrote an event, r13: Created"},
		},
		{
			"two clients that conflict in turn",
			[]record{{client: "a", code: 409, pod: "x"}, {client: "b", code: 409, pod: "x"}, {client: "a", code: 409, pod: "x"}, {client: "b", code: 409, pod: "x"}, {client: "a", code: 409, pod: "y"}},
			[]string{"409 PUT /x (a): why (2 times in 2ms)", "409 PUT /x (b): why (2 times in 2ms)", "409 PUT /y (a): why"},
		},
		{
			"equal requests after a long time",
			[]record{{client: "a", code: 409, pod: "x"}, {client: "a", code: 409, pod: "y"}, {client: "a", code: 409, pod: "x", at: 20_000}},
			[]string{"409 PUT /x (a): why", "409 PUT /y (a): why", "409 PUT /x (a): why"},
		},
		{
			"what is not implemented is listed once, before the events",
			[]record{{client: "a", code: 501, pod: "x", unserved: true}, {client: "a", code: 501, pod: "x", unserved: true, at: 60_000}},
			[]string{"not implemented: 501 PUT /x (a): why"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, line := range strings.Split(strings.TrimSpace(foldsOf(row.records).Text(40)), "\n") {
				line = strings.TrimSpace(line)
				if _, rest, ok := strings.Cut(line, "s  "); ok && line[0] == '+' {
					line = strings.TrimSpace(rest)
				}
				got = append(got, line)
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// A fault that makes a request fail is in the line of the request.
func TestTextOfFault(t *testing.T) {
	s := &Story{
		Notes:    []Note{{Moment: at(1), Kind: "fault", Text: "409: update of /x", Client: &Client{Name: "a"}}, {Moment: at(3), Kind: "fault", Text: "slow", Client: &Client{Name: "a"}}},
		Requests: []Request{{Moment: at(2), Client: Client{Name: "a"}, Method: "PUT", URI: "/x", Verb: "update", Target: pod("x"), Code: 409, Message: "changed", Fault: 1}},
	}
	assert.Equal(t, "     +0.002s        409 PUT /x (a), a fault: changed\n     +0.003s        fault: slow, for a\n", s.Text(9))
}

func TestAction(t *testing.T) {
	for _, row := range []struct{ verb, subresource, want string }{
		{"update", "", "update"}, {"update", "status", "update status"}, {"patch", "status", "patch status"}, {"create", "binding", "bind"}, {"create", "eviction", "evict"},
		{"update", "scale", "scale"}, {"patch", "scale", "scale"}, {"get", "scale", "get scale"}, {"create", "token", "create token"}, {"patch", "ephemeralcontainers", "patch ephemeralcontainers"},
	} {
		assert.Equal(t, row.want, action(row.verb, row.subresource))
	}
}
