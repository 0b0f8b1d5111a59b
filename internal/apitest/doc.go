// Package apitest has what tests of the API share: requests, objects, servers and webhooks.
//
// The packages below it test what a server answers, by area: through HTTP, as its users see
// it. The tests of package fakeapi are about what fakeapi exports.
package apitest
