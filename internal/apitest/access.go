//go:build go1.24

package apitest

import (
	"testing"
	"time"

	"github.com/kubefake/kubefake/fakeapi"
)

// The headers of the users of StartRBAC, for DoWithHeaders.
var (
	AsRoot  = []string{"Authorization", "Bearer root-token"}
	AsAlice = []string{"Authorization", "Bearer alice-token"}
)

// A Role that reads Pods in the namespace default, and its binding to alice.
const (
	ReaderRole    = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"r","namespace":"default"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]}`
	ReaderBinding = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"r","namespace":"default"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"alice"}]}`
)

// StartRBAC starts a server with RBAC and the users root, an administrator, and
// alice.
func StartRBAC(t testing.TB, objects ...any) *fakeapi.Server {
	return fakeapi.Start(t, fakeapi.WithInMemory(), fakeapi.WithRBAC(), fakeapi.WithObjects(objects...),
		fakeapi.WithManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		fakeapi.WithToken("root-token", fakeapi.User{Name: "root", Groups: []string{"system:masters"}}),
		fakeapi.WithToken("alice-token", fakeapi.User{Name: "alice", UID: "1", Groups: []string{"devs"}}))
}
