// Package publicapi keeps the exported declarations of the public packages as text, so that
// a change of them is seen in its diff. Before version 1.0 the declarations may change,
// afterwards they only grow.
package publicapi
