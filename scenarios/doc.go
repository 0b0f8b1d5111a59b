// Package scenarios is a file format for what happens at a Kubernetes API
// server: requests and their answers, watches and their events, changes that
// were made past HTTP, lag, faults, time. A scenario is played against a server
// and compared with what it says, or answers a client in a server's place.
//
//	func TestRollout(t *testing.T) {
//		srv := fakeapi.Start(t)
//		scenarios.Play(t, srv, "testdata/rollout.yaml")
//	}
//
// # Files
//
// A file holds YAML documents, one scenario each. YAML is read as kubectl reads
// it; a key that is given twice, or that is not one of those below, is an error.
//
//	version: 1                 # of the format; 1 if it is not given
//	area: apps                 # area/name tells a scenario from all others
//	name: rollout
//	why: what it is about
//	recorded: v1.36.3          # of the server whose answers it has
//	gates: [SomeFeature]       # feature gates that the server needs on
//	managedFields: true        # metadata.managedFields counts; else it does not
//	history: [...]               # what others do meanwhile
//	steps: [...]               # what is done, in order
//
// # Steps
//
// A step is of one sort, told by its key. A request is sent, and its answer is
// read to the end:
//
//	do: PATCH /api/v1/namespaces/${ns}/pods/a?fieldManager=x
//	name: the apply            # what to call the step in reports
//	user: alicetoken           # bearer token; "none" sends none, the default is admintoken
//	type: application/json     # Content-Type, which is also the default
//	accept: application/json   # as well
//	headers: {X-A: b}          # further ones; "" removes one that would be sent
//	body: {...}                # sent as JSON
//	raw: "..."                 # or sent as it is
//	base64: "..."              # or sent decoded
//	until: 200                 # repeated for a while, until it is answered so
//	advance: 3s                # the server's clock is moved ahead while it holds the request back
//	capture: {uid: metadata.uid, etag: header.Etag}
//	only: [metadata.name]      # all of the body that is compared
//	want: {...}
//
// A watch is a GET that goes on beside the steps, under a name. It has the keys
// of a request that are about what is sent; its want is the first answer, with a
// body where the watch is refused:
//
//	watch: /api/v1/pods?watch=1
//	as: pods
//
// Events are read from a watch. They are waited for a while:
//
//	events: pods
//	count: 2
//	ends: true                 # and then the server must end the watch
//	capture: {rv: 1.object.metadata.resourceVersion} # after the event's index
//	only: [type]               # of each event
//
// Objects are put and deleted past HTTP, as fakeapi.Server.Put and Delete do it:
// no admission, no finalizers. Both take one object or a list, of which each is a
// write of its own; what is put is put before anything is deleted. Of a deleted
// object kind, apiVersion, namespace and name suffice:
//
//	put: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${ns}", name: a}}
//	delete: [...]
//
// The server's history and time, and what it does that no real server does, are
// steps too. They take what its control endpoint takes, which the README lists,
// and what else that does is a request:
//
//	compact: true              # or {watchCache: true}, {revision: 7}
//	pause: 150ms               # time passes
//	advance: 10m               # the server's clock is moved ahead
//	lag: {resource: pods, by: 3s}              # with nothing but a resource, or {}, it ends
//	fault: {verb: update, code: 409, times: 1} # do: DELETE /debug/fakeapi/faults removes it
//	restart: pods              # their open watches end, so that clients open new ones; "*" is all
//
// An expectation waits for what a client under test writes: it reads an object
// until the answer is the one wanted, for a while. Of the answer only what want
// mentions is compared:
//
//	expect: /apis/apps/v1/namespaces/${ns}/deployments/web
//	within: 5s                 # how long it waits, if not as long as usual
//	want: {body: {spec: {replicas: 3}}}
//
// # Time
//
// Any step can have an offset, "at: 1.2s": it is taken once so much time has
// passed since the first. That is the server's time. Where its clock stands
// still until it is moved, pauses and offsets move it, and nobody waits;
// otherwise they wait. A server without a control endpoint has the wall clock.
//
// In a recording, the offset of a step is when its request came, or the last of
// its events.
//
// # History
//
// A history is what happened to objects, whoever did it:
//
//	history:
//	- put: {apiVersion: v1, kind: Node, metadata: {name: a}}
//	- at: 1.2s
//	  put: [...]
//	- at: 1.25s
//	  delete: {apiVersion: v1, kind: Node, metadata: {name: a}}
//
// Its changes are steps that put and delete, in the order of their offsets. They
// are made while the steps are taken: whenever time passes, those that have come
// due, each at its time. What is left of them after the last step is made then,
// each at its time.
//
// # Names
//
// ${name} in a path, a body, a header or an object is replaced by what capture
// bound to it: a dotted path of an answer, in which a number is an index and \.
// a dot, or header.NAME. ${name_base64} is the base64 of it. A name that nothing
// is bound to stays as it is. Bound from the start are
//
//	ns          a namespace made for the scenario, named s-${run}
//	run         a word that no other scenario on the server has
//	webhook     the URL of the server below
//	webhook_ca  its certificate, as a caBundle
//
// and where one of these values is found in an answer, the name stands there
// before it is compared. In a want, the names that capture bound are replaced.
//
// # Answers
//
// want says what the answer must be, in all of:
//
//	status: 200                # if it is not given
//	headers: {Content-Type: application/json}
//	warning: [299 - "..."]     # the Warning headers
//	body: {...}                # decoded, whatever its media type; text if it is none of JSON, YAML, CBOR, protobuf
//	events: [...]              # decoded
//
// The headers that count are Content-Type, Content-Encoding, Retry-After, Etag,
// Vary, Cache-Control and Allow; one that headers does not have must not be
// there. Without headers none counts.
// A step without want can be answered by anything. A string in want can be a
// placeholder:
//
//	<uid> <rv> <time> <num>  any value of that class
//	<continue>               any text but none
//	<uid:N> <rv:N>           one value throughout; two N of a class are never the same value
//	<any>                    any value
//	<maybe>                  any value, or the member is absent
//	text <*> text            any run of text at <*>
//
// In the area openapi descriptions do not count: they are prose, not interface.
//
// # The server's part
//
// A [Script] answers a client as the steps of a scenario want a server to: requests
// in their order, and after them the events of their watches. It needs whole
// answers, without only, and has values of its own in the place of placeholders.
//
// # The webhook server
//
// ${webhook} serves, over HTTPS:
//
//	/convert         conversion between hostPort "h:p" (version v1beta1) and host and port (all others)
//	/convert-fail    conversion that fails
//	/convert-rename  conversion that changes metadata.name, which a server must refuse
//	/mutate          adds the label mutated=true
//	/validate        denies objects labelled deny=true, with a status of its own; warns on warn=true
//	/echo            allows, and warns with the operation, resource, subresource, dryRun and user
//	/slow            allows after 3 seconds
//	/error           answers 500
package scenarios
