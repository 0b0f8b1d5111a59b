package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/kubefake/kubefake/internal/release"
	"github.com/kubefake/kubefake/internal/suggest"
)

// noMatch returns the error of a kind that the server does not serve, with what is known about it.
// It names no release, so that servers of several releases say the same. t.mu is held.
func (t *target) noMatch(ctx context.Context, apiVersion, kind string) error {
	key := apiVersion + " " + kind
	if t.missing[key] == nil {
		t.missing[key] = fmt.Errorf("no matches for kind %q in version %q%s", kind, apiVersion, t.hint(ctx, apiVersion, kind))
	}
	return t.missing[key]
}

// hint returns why a kind is not served and what is served instead, as the end of a sentence.
func (t *target) hint(ctx context.Context, apiVersion, kind string) string {
	l := release.LifecycleOf(apiVersion, kind)
	minor := t.minor()
	var parts []string
	switch {
	case l.Removed > 0 && l.Removed <= minor:
		parts = append(parts, fmt.Sprintf("removed in v1.%d", l.Removed))
	case l.Since > minor:
		parts = append(parts, fmt.Sprintf("served from v1.%d on", l.Since))
	case l.Known && l.Since == 0:
		parts = append(parts, "off by default")
	}
	switch versions := t.versionsOf(ctx, groupOf(apiVersion), kind); {
	case len(versions) > 0:
		parts = append(parts, "served in "+strings.Join(versions, ", "))
	case l.Instead != "":
		parts = append(parts, "use "+l.Instead)
	}
	if parts == nil {
		t.lookupLocked(ctx, apiVersion, kind) // so that its kinds are known
		return suggest.DidYouMean(kind, slices.Sorted(maps.Keys(t.versions[apiVersion])))
	}
	return "; " + strings.Join(parts, ", ")
}

// minor returns the minor number of the server's release.
func (t *target) minor() int {
	r, err := release.Open(t.srv.Release())
	if err != nil { // unreachable: the server has it
		return 0
	}
	return r.Minor()
}

// versionsOf returns the API versions in which the server serves a kind: of each group the first
// one. They are those of the same group, and those of Kubernetes if the group is one of its names:
// kinds of other projects often have the same name and nothing else in common.
func (t *target) versionsOf(ctx context.Context, group, kind string) (out []string) {
	var list struct {
		Groups []struct {
			Name     string
			Versions []struct{ GroupVersion string }
		}
	}
	add := func(versions ...string) {
		for _, v := range versions {
			if _, ok := t.lookupLocked(ctx, v, kind); ok {
				out = append(out, v)
				return
			}
		}
	}
	if release.IsKubernetesGroup(group) {
		add("v1")
	}
	r := t.send(ctx, &request{method: http.MethodGet, path: "/apis"})
	if r.code != http.StatusOK || json.Unmarshal(r.body.Bytes(), &list) != nil {
		return out
	}
	for _, g := range list.Groups {
		if g.Name != group && !(release.IsKubernetesGroup(group) && release.IsKubernetesGroup(g.Name)) {
			continue
		}
		var versions []string
		for _, v := range g.Versions {
			versions = append(versions, v.GroupVersion)
		}
		add(versions...)
	}
	return out
}
