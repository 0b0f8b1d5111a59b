// Package webpages tests in Chromium that the pages of other sites cannot use the
// servers of fakeapi: neither from their own origin, nor by rebinding DNS.
package webpages
