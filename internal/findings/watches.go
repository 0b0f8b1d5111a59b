package findings

import (
	"fmt"
	"net/http"
	"net/url"
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
	keyOf := func(w *journal.Watch) key {
		query := queryOf(w.URI)
		return key{client{w.User, w.UserAgent}, story.Target{Resource: w.Resource, Namespace: w.Namespace, Name: w.Name}, query.Get("labelSelector") + " " + query.Get("fieldSelector")}
	}
	watches := b.Journal.Watches()
	for i := range watches {
		w := &watches[i]
		if w.Code != http.StatusGone {
			continue
		}
		k, later, again, ok := keyOf(w), 0, (*journal.Watch)(nil), false
		for j := i + 1; j < len(watches) && !ok; j++ {
			if next := &watches[j]; next.Began > w.Ended && keyOf(next) == k {
				ok = queryOf(next.URI).Get("sendInitialEvents") == "true"
				if again == nil {
					again = next
				}
			}
		}
		for j := range b.requests {
			if r := &b.requests[j]; r.What.Came >= w.Ended && r.client() == k.client && r.Verb != "watch" {
				later++
				ok = ok || r.resource() == k.Resource && (r.Verb == "list" || r.Verb == "get")
			}
		}
		switch request := "GET " + b.URI(w.URI); {
		case ok:
		case again != nil:
			b.add("expired-watch", k.client, k.Resource, fmt.Sprintf("watched %s again after 410, without a list", k.Resource), "GET "+b.URI(again.URI), again.Began)
		case later >= minLater:
			b.add("expired-watch", k.client, k.Resource, fmt.Sprintf("has not watched %s again after 410, and made %d other requests", k.Resource, later), request, w.Ended)
		}
	}
}
