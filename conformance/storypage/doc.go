// Package storypage holds tests alone: that the page of a server's story does in
// a browser what it is for. They drive a headless Chromium, which has to be
// installed; without one they are skipped, but fail where CI is set.
package storypage
