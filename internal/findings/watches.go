package findings

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"github.com/kubefake/kubefake/internal/journal"
	"github.com/kubefake/kubefake/internal/route"
	"github.com/kubefake/kubefake/internal/story"
)

// watches finds watches without bookmarks: those that have ended, and those that are open.
func (b *builder) watches() {
	add := func(who client, resource, uri string, query url.Values, order int64) {
		if !query.Has("allowWatchBookmarks") || !route.ParseBool(query.Get("allowWatchBookmarks")) {
			b.add("watch-without-bookmarks", who, resource, "watched "+resource, "GET "+b.URI(uri), order)
		}
	}
	for i := range b.requests {
		if r := &b.requests[i]; r.Verb == "watch" {
			add(r.client(), r.resource(), r.What.URI, r.query, r.Order)
		}
	}
	for _, w := range b.Journal.Watches() {
		if w.Ended == 0 {
			add(client{w.User, w.UserAgent}, w.Resource, w.URI, queryOf(w.URI), w.Began)
		}
	}
}

func queryOf(uri string) url.Values {
	_, text, _ := strings.Cut(uri, "?")
	query, _ := url.ParseQuery(text) // what does not parse is no option
	return query
}

// expired finds watches that have ended with 410, and whose clients have not begun again from the
// present state: by a list, or by a watch that sends it.
func (b *builder) expired() {
	type key struct {
		client
		story.Target
		selector string
	}
	type read struct {
		client
		resource string
	}
	var (
		watches = b.Journal.Watches() // in the order in which they began
		keys    = make([]key, len(watches))
		of      = map[key][]*journal.Watch{}
		initial = map[key]int64{}      // when the last watch began that sends the present state
		came    = map[client][]int64{} // of requests beside watches
		reads   = map[read]int64{}     // when the last one came
	)
	for i := range watches {
		w := &watches[i]
		query := queryOf(w.URI)
		k := key{client{w.User, w.UserAgent}, story.Target{Resource: w.Resource, Namespace: w.Namespace, Name: w.Name}, query.Get("labelSelector") + " " + query.Get("fieldSelector")}
		keys[i], of[k] = k, append(of[k], w)
		if query.Get("sendInitialEvents") == "true" {
			initial[k] = w.Began
		}
	}
	for i := range b.requests {
		r := &b.requests[i]
		if r.Verb == "watch" {
			continue
		}
		came[r.client()] = append(came[r.client()], r.What.Came)
		if r.Verb == "list" || r.Verb == "get" {
			k := read{r.client(), r.resource()}
			reads[k] = max(reads[k], r.What.Came)
		}
	}
	for _, positions := range came {
		slices.Sort(positions)
	}
	for i := range watches {
		w, k := &watches[i], keys[i]
		if w.Code != http.StatusGone {
			continue
		}
		next := sort.Search(len(of[k]), func(j int) bool { return of[k][j].Began > w.Ended })
		before, _ := slices.BinarySearch(came[k.client], w.Ended)
		later := len(came[k.client]) - before
		switch lastRead, ok := reads[read{k.client, k.Resource}]; {
		case initial[k] > w.Ended, ok && lastRead >= w.Ended:
		case next < len(of[k]):
			again := of[k][next]
			b.add("expired-watch", k.client, k.Resource, fmt.Sprintf("watched %s again after 410, without a list", k.Resource), "GET "+b.URI(again.URI), again.Began)
		case later >= minLater:
			b.add("expired-watch", k.client, k.Resource, fmt.Sprintf("has not watched %s again after 410, and made %d other requests", k.Resource, later), "GET "+b.URI(w.URI), w.Ended)
		}
	}
}
