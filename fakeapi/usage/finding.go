package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/glob"
)

// A Finding is something that a client does and that loses what others write, or that costs a real
// cluster more than it needs to. It depends on what the journal of the server still has: the newest
// few thousand requests and writes.
type Finding struct {
	// Rule is the name of the rule. [Rules] lists them.
	Rule      string `json:"rule"`
	User      string `json:"user,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	// Resource is the resource concerned: "pods", "deployments.apps"; "" for none.
	Resource string `json:"resource,omitempty"`
	// Text says what the client did, of the first time.
	Text string `json:"text"`
	// Request is the method and the URI of the first time; "" if it is not known.
	Request string `json:"request,omitempty"`
	// Order is the position of the first time in the journal and in the story of the server; 0 if
	// it is not known, and in a sum of several servers.
	Order int64 `json:"order,omitempty"`
	// Count is how many times there were.
	Count int64 `json:"count"`
	// Fix says what to do.
	Fix string `json:"fix"`
}

// A FindingRule is a rule that a [Finding] can be of.
type FindingRule struct {
	Name string `json:"name"`
	// Finds says what the rule finds, and Fix what to do.
	Finds string `json:"finds"`
	Fix   string `json:"fix"`
}

// rules are sorted by what their findings cost, the worst first.
var rules = []FindingRule{
	{"stale-write", "a write that replaces a value which another client has written and this one has not seen",
		"send the resourceVersion that was read, and try again after 409; or write only fields of your own"},
	{"owner-reference", "an owner reference to an object that does not exist, that has another UID or that is in another namespace",
		"take the UID from the owner that was read; an owner is in the same namespace or at cluster scope; otherwise the garbage collector deletes the object"},
	{"status-ignored", "a PUT or PATCH of an object with another status, which only the subresource status changes",
		"write the status with the subresource: UpdateStatus, Status().Update or Status().Patch"},
	{"expired-watch", "a watch that has expired with 410, and after which the client has not listed again: changes in between are lost to it",
		"list and then watch from the version of the list, as informers do, or watch with sendInitialEvents"},
	{"finalizer-late", "a finalizer that is added to an object after the client has created others for it that are named after it and not owned by it",
		"add the finalizer first: a deletion in between leaves the others behind"},
	{"finalizer-left", "an object that is being deleted and keeps a finalizer that the client has added, while the client asks ten times for others",
		"reconcile objects with a deletionTimestamp too, and remove the finalizer when what it stands for is done"},
	{"conflict-not-retried", "a 409 for a write that the client has not tried again, of an object that it does not watch",
		"read the object again and write again, as retry.RetryOnConflict does, or return the error so that the object is reconciled again"},
	{"loop", "the same values written to an object again and again",
		"compare with the object before writing, and do not be woken by your own writes; two clients in one loop fight over a field"},
	{"unpaged-list", "a list of more than 500 objects without limit at the newest version",
		"set limit and follow continue, or read from the cache of an informer"},
	{"polling-list", "the same list ten times or more, instead of a watch",
		"watch, with an informer, and list from its cache"},
	{"list-beside-watch", "ten lists or more at the newest version of what the client watches",
		"read from the cache of the informer, which has the same; resourceVersion=0 reads that of the API server"},
	{"polling-get", "an object read ten times or more without a write of the client in between",
		"read from the cache of an informer; to wait for a change, watch with the field selector metadata.name"},
	{"asks-at-rest", "twenty reads or more after the last change of any object",
		"be woken by watches instead of by time, or ask less often"},
	{"requests-per-change", "a hundred requests or more, and twenty or more for each change of what the client watches",
		"read from the cache of an informer, and ask only for what the change concerns"},
	{"idle-write", "three writes or more of an object that change nothing",
		"compare with the object before writing"},
	{"events-flood", "ten Events or more for one object and reason",
		"record with the EventRecorder of client-go, which counts repeated Events up, and only for what a user can act on"},
	{"all-namespaces", "a list or watch of all namespaces by a client that asks for objects of one namespace only, while there are others",
		"list and watch that namespace: the rest costs memory, and needs a ClusterRole"},
	{"watch-without-bookmarks", "a watch without allowWatchBookmarks",
		"set allowWatchBookmarks=true: without bookmarks a watch of rare changes starts again from an expired version, with a whole list"},
	{"deprecated-version", "requests for a version that is deprecated", "use the version that the warning names"},
}

// Rules returns the rules, sorted by what their findings cost, the worst first.
func Rules() []FindingRule { return slices.Clone(rules) }

// rank returns the position of the rule in Rules.
func (f *Finding) rank() int {
	return slices.IndexFunc(rules, func(r FindingRule) bool { return r.Name == f.Rule })
}

// String returns the finding on one line.
func (f *Finding) String() string {
	line := fmt.Sprintf("%s: %s: %s", f.Rule, cmp.Or(f.UserAgent, f.User), f.Text)
	if f.Request != "" {
		line += ", as in " + f.Request
	}
	if f.Count > 1 {
		line += fmt.Sprintf(" (%d times)", f.Count)
	}
	return line
}

func (f *Finding) same(other *Finding) bool {
	return f.Rule == other.Rule && f.User == other.User && f.UserAgent == other.UserAgent && f.Resource == other.Resource
}

// AddFinding adds a finding: to the count of one of the same rule, client and resource, if there is
// one. It sets Fix, which is that of the rule.
func (u *Usage) AddFinding(f Finding) {
	for i := range u.Findings {
		if u.Findings[i].same(&f) {
			u.Findings[i].Count += f.Count
			return
		}
	}
	if i := f.rank(); i >= 0 {
		f.Fix = rules[i].Fix
	}
	u.Findings = append(u.Findings, f)
}

// sortFindings sorts the findings by their cost, and then by their counts.
func (u *Usage) sortFindings() {
	slices.SortStableFunc(u.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Count, a.Count),
			strings.Compare(a.UserAgent, b.UserAgent), strings.Compare(a.Resource, b.Resource), strings.Compare(a.User, b.User),
		)
	})
}

func (c Client) hasFinding(f *Finding) bool {
	return (c.User == "" || glob.Match(c.User, f.User)) && (c.UserAgent == "" || glob.Match(c.UserAgent, f.UserAgent))
}

// FindingsText returns the findings and their fixes as lines; "" for none.
func (u *Usage) FindingsText() string {
	var b strings.Builder
	for i := range u.Findings {
		f := &u.Findings[i]
		fmt.Fprintf(&b, "  %s\n    fix: %s\n", f.String(), f.Fix)
	}
	if b.Len() == 0 {
		return ""
	}
	return "findings, the worst first:\n" + b.String()
}
