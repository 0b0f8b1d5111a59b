// Package journal describes what a server has done: the requests that it has responded to, and
// the writes that it has stored. Server.Requests and Server.Writes of package fakeapi return
// them.
package journal
