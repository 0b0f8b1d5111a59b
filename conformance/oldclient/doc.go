// Package oldclient runs the client suite with the client-go that its go.mod
// names, four minor releases behind the newest.
package oldclient
