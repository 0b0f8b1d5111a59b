package usage

import "strings"

// A TB is the part of testing.TB that Expect needs.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Errorf(format string, args ...any)
}

// An Expectation is what a client may ask, and what it is expected to.
type Expectation struct {
	// Roles are the files with the roles of the client. [ReadRoles] says what they can be.
	Roles []string
	// Client is the client. The zero value is all clients, the test among them.
	Client Client
	// AllowUnused allows permissions that are granted and that the client never asks for, as in a
	// test that does not do everything that the client can do.
	AllowUnused bool
	// Findings does not allow findings. They are those since the start of the server.
	Findings bool
}

// Expect expects that a client asks what its roles grant, and nothing else. At the end of the test
// it compares the requests of the client since the call with the roles, and fails the test for a
// permission that was asked and is not granted, and for one that is granted and was never asked.
// It does not look for the latter if the test has failed. It fails for files that it cannot read,
// and for a client that has made no request. Without Roles nothing is compared.
//
// Stop the client by a Cleanup that is registered later, or before the test ends: what it asks
// after the check is not seen.
func Expect(t TB, srv Server, want Expectation) {
	t.Helper()
	roles, err := ReadRoles(want.Roles...)
	if err != nil {
		t.Errorf("usage: %v", err)
		return
	}
	Start(srv)
	before := Of(srv)
	t.Cleanup(func() {
		t.Helper()
		all := Of(srv).since(before)
		asked := all.Of(want.Client)
		if len(asked.Requests) == 0 {
			t.Errorf("usage: no request of the client%s", all.agentsText())
			return
		}
		if text := asked.FindingsText(); want.Findings && text != "" {
			t.Errorf("usage: %s", text)
		}
		if len(want.Roles) == 0 {
			return
		}
		c := asked.Compare(roles)
		if want.AllowUnused || t.Failed() {
			c.Unused = nil
		}
		if text := c.Text(); text != "" {
			t.Errorf("usage: the roles in %s differ from what the client asks\n%s", strings.Join(want.Roles, ", "), text)
		}
	})
}

// since returns the requests that are not in an earlier usage of the same server.
func (u *Usage) since(before *Usage) *Usage {
	counts := make(map[requestKey]int64, len(before.Requests))
	for i := range before.Requests {
		counts[before.Requests[i].key()] = before.Requests[i].Count
	}
	out := &Usage{Format: Format, Objects: u.Objects, Findings: u.Findings}
	for _, r := range u.Requests {
		if r.Count -= counts[r.key()]; r.Count > 0 {
			out.Requests = append(out.Requests, r)
		}
	}
	return out
}

// agentsText lists the user agents that have made requests.
func (u *Usage) agentsText() string {
	agents := map[string]bool{}
	for i := range u.Requests {
		agents[u.Requests[i].UserAgent] = true
	}
	if len(agents) == 0 {
		return ""
	}
	return "; there are those of the user agents " + strings.Join(sortedKeys(agents), ", ")
}
