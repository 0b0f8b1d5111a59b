// Package usage says what clients ask of an API server: the permissions that they need, as roles,
// as kubebuilder markers or compared with the roles that they have, and the requests that cost a
// real cluster more than they need to.
//
//	srv := fakeapi.Start(t)
//	usage.Expect(t, srv, usage.Expectation{Roles: []string{"config/rbac/*.yaml"}})
//	// start the controller and test it
//
// A [Usage] counts requests that are equal but for the names of their objects. It is complete: it
// does not depend on what the journal of the server still has. The usages of several servers, of
// several packages and of several machines can be added up: see [Usage.Add].
//
// Terms: a request is unnamed if it is not for one object by its name, as lists, creates and
// deletions of collections are. A name or a namespace is variable for a client that finds it by an
// unnamed list or watch, or that makes it of such a name, as "web-config" of "web"; other names and
// namespaces are constant. Roles name what is constant.
package usage
