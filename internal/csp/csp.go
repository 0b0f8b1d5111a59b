// Package csp has the Content-Security-Policy of HTML pages that hold their script and their
// style themselves and load nothing.
//
// See https://www.w3.org/TR/CSP3/.
package csp

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// Policy returns a policy that allows the inline script and the inline style of a page, and
// nothing else except what more allows: the texts between the tags of the elements, "" for an
// element that the page does not have, and more directives, such as ConnectSelf.
func Policy(script, style string, more ...string) string {
	directives := append([]string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "img-src data:"}, more...)
	if script != "" {
		directives = append(directives, "script-src "+hash(script))
	}
	if style != "" {
		directives = append(directives, "style-src "+hash(style))
	}
	return strings.Join(directives, "; ")
}

// ConnectSelf allows a page to send requests to the server that it comes from.
const ConnectSelf = "connect-src 'self'"

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Element returns the text between the first tags of an element without attributes, such as
// script; "" if there is none.
func Element(html, name string) string {
	_, rest, _ := strings.Cut(html, "<"+name+">")
	text, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return text
}

// SetHeaders sets the headers of a page with a policy. No other page can show it in a frame,
// which a policy in the page itself cannot forbid.
func SetHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}
