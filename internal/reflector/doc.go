// Package reflector lists and watches the resources of any API server over HTTP, as the
// reflectors of client-go do.
package reflector
