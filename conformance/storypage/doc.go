// Package storypage tests the page of a story and of a running server in a headless Chromium. If
// Chromium is not installed, the tests are skipped, or fail if CI is set.
package storypage
