// Package scenarios reads, runs, records and replays scenario files. A scenario
// describes what happens at a Kubernetes API server: requests and their answers,
// watches and their events, direct writes of objects, lag, faults and time.
//
//   - [Play] sends the requests of a scenario to a server and compares the answers.
//   - [Record] writes the traffic between clients and a server to a scenario.
//   - [Replay] answers a client under test with the recorded answers of a scenario.
//   - [RecordState] writes the changes of a server's objects to a history.
//   - [Reenact] makes the changes of a history at a server.
//
// An example:
//
//	func TestRollout(t *testing.T) {
//		srv := fakeapi.Start(t)
//		scenarios.Play(t, srv, "testdata/rollout.yaml")
//	}
//
// # Files
//
// A file holds YAML documents, one scenario each. They are decoded as kubectl
// decodes YAML. Duplicate and unknown keys are errors.
//
//	version: 1                 # of the format; 1 is the default
//	area: apps                 # area/name identifies the scenario
//	name: rollout
//	why: what it shows
//	recorded: v1.36.3          # the server version that gave the answers
//	gates: [SomeFeature]       # feature gates that the server must have enabled
//	managedFields: true        # compare metadata.managedFields too
//	files: [policy.yaml, crds] # files and folders of objects that exist before the first step
//	history: [...]             # changes that others make meanwhile
//	steps: [...]               # actions, in order
//
// # Steps
//
// A step has one action. do sends a request and reads the answer to its end:
//
//	do: PATCH /api/v1/namespaces/${ns}/pods/a?fieldManager=x
//	name: the apply            # names the step in reports
//	user: alicetoken           # bearer token; the default is admintoken, "none" sends none
//	type: application/json     # Content-Type; this is the default
//	accept: application/json   # Accept; this is the default
//	headers: {X-A: b}          # more headers; "" removes a default one
//	body: {...}                # the body, sent as JSON
//	raw: "..."                 # the body, sent as it is
//	base64: "..."              # the body, sent decoded
//	until: 200                 # repeat until the answer has this status, or until the timeout
//	advance: 3s                # advance the server's clock while the request waits for it
//	capture: {uid: metadata.uid, etag: header.Etag}
//	only: [metadata.name]      # compare only these parts of the body
//	want: {...}
//
// watch opens a watch that later steps read by its name. It has the same keys for
// the request. Its want is the first answer, with a body if the server refuses the
// watch:
//
//	watch: /api/v1/pods?watch=1
//	as: pods
//
// events reads events of a watch. It waits for them until the timeout:
//
//	events: pods
//	count: 2
//	ends: true                 # the server must end the watch after them
//	capture: {rv: 1.object.metadata.resourceVersion} # the path starts with the index of the event
//	only: [type]               # of each event
//
// create, update, patch, apply and delete change objects as a user does with kubectl, with strict
// validation of fields: update replaces an object, patch merges into it (type chooses another
// patch), apply is a server-side apply by the field manager kubectl, with force, and delete a DELETE
// that leaves the rest to finalizers and the garbage collector. They take an object or a list; delete
// needs only kind, apiVersion, namespace and name of an object, and patch those and what changes.
// Without a namespace it is default. A refusal ends the scenario, unless the step has a want or an
// expect. They can have user, headers and capture, as do:
//
//	apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: "${ns}", name: a}}
//	delete: [...]
//
// # Policies
//
// A step with a request (do, create, update, patch, apply, delete) can say in short who sends it and
// what comes of it:
//
//	as: bob                    # impersonate a user
//	groups: [devs]             # of the user
//	given: {...}               # objects that are stored before the request, as store does, or
//	                           # applied at a server without a control endpoint
//	create: {...}
//	subresource: status        # of update, patch and apply
//	expect: denied "no more than 5 replicas"
//	warnings: [...]            # exactly these; each is a part of the text of its warning
//	audit: {key: value}        # annotations of the audit log; <*> stands for any text
//
// expect is a verdict, with a part of the message:
//
//	allowed                    # the request succeeds
//	denied "..."               # refused by a policy, a webhook, an admission plugin or validation
//	forbidden "..."            # refused by the authorizer
//	error "..."                # any other failure, such as an unknown field or a conflict
//	{denied: ..., by: limit, reason: Invalid, code: 422}
//	{mutated: {...}}           # allowed, and this is a part of what is stored; null means absent
//
// by is the name of a policy, a binding or a webhook, with the kind before it if it is not clear
// (ValidatingAdmissionPolicy/limit), PodSecurity, ResourceQuota, or the path of a field in the
// causes of the answer, such as spec.replicas, which rules of CustomResourceDefinitions have.
//
// With rows, the request is sent once for each row, and each row is a result of its own:
//
//	rows:
//	- {name: five replicas, spec.replicas: 5, expect: allowed}
//	- {name: six, spec.replicas: 6, as: eve, expect: denied "no more than 5"}
//
// A row has name, as, groups, expect, warnings and audit in place of those of the step. Its other
// members are values: of the variable ${limit} of the step for limit, and otherwise of the field of
// the object at the path, such as spec.containers[0].image or metadata.labels[app.kubernetes.io/name].
// A null removes the field. A text that is nothing but a variable becomes the value itself, with its
// type. What a row creates is removed after it.
//
// The objects of the files of a scenario are applied before its first step: definitions, namespaces,
// others, and at last webhooks and policies. The names of files are relative to the folder of the
// scenario. The users of as may do everything, unless the scenario, with its files, has a
// RoleBinding or a ClusterRoleBinding.
//
// # Other steps
//
// store and remove write past the API, as fakeapi.Server.Store and Remove do: without admission and
// finalizers, and with the status. store comes before remove:
//
//	store: {apiVersion: v1, kind: Node, metadata: {name: a}, status: {...}}
//	remove: [...]
//
// Other actions change the server's history, time and behaviour. They take the same
// values as the server's control endpoint, which docs/control-endpoint.md describes. A control
// operation without a step of its own is a request:
//
//	compact: true              # or {watchCache: true}, {revision: 7}
//	pause: 150ms               # let time pass
//	advance: 10m               # advance the server's clock
//	lag: {resource: pods, by: 3s}              # only a resource, or {}, ends the lag
//	fault: {verb: update, code: 409, times: 1} # do: DELETE /debug/fakeapi/faults removes it
//	restart: pods              # end the open watches, so that clients reopen them; "*" means all
//	upgrade: v1.36             # restart the server with another Kubernetes release
//
// expect waits for what a client under test writes: it repeats a GET until the answer
// matches or the timeout ends. Members of the answer that want does not mention are
// not compared:
//
//	expect: /apis/apps/v1/namespaces/${ns}/deployments/web
//	within: 5s                 # a timeout for this step
//	want: {body: {spec: {replicas: 3}}}
//
// # Time
//
// Every step can have an offset from the start of the scenario: with "at: 1.2s" the
// step waits until that time. Offsets and pauses use the server's clock. If that is a
// manual clock, pauses and offsets advance it and take no time; otherwise they wait.
// For a server without a control endpoint the wall clock is used.
//
// In a recording, the offset of a step is the time of its request or of the last of
// its events.
//
// # History
//
// A history lists changes of objects by any client:
//
//	history:
//	- store: {apiVersion: v1, kind: Node, metadata: {name: a}}
//	- at: 1.2s
//	  store: [...]
//	- at: 1.25s
//	  remove: {apiVersion: v1, kind: Node, metadata: {name: a}}
//
// Each change is like a step with store and remove. Changes must be sorted by their offsets.
// While the steps run, each change is made at its time. The changes that remain after
// the last step are made then, each at its time.
//
// # Variables
//
// ${name} in a path, a body, a header or an object is replaced by the value of the
// variable. capture sets variables from an answer: to the value at a dotted path, in
// which a number is an index and \. is a literal dot, or to a header with
// header.NAME. ${name_base64} is the value in base64. An unset variable is not
// replaced. These are always set:
//
//	ns          a namespace made for the scenario, named s-${run}
//	run         a word that no other scenario on the server has
//	webhook     the URL of the webhook server below
//	webhook_ca  its certificate, as a caBundle
//
// Before an answer is compared, the values of these four are replaced by ${ns} and so
// on. Captured variables are replaced in want.
//
// # Answers
//
// want describes the answer. In full:
//
//	status: 200                # the default
//	headers: {Content-Type: application/json}
//	warning: [299 - "..."]     # the Warning headers
//	body: {...}                # decoded from JSON, YAML, CBOR or protobuf; otherwise text
//	events: [...]              # decoded
//
// The compared headers are Content-Type, Content-Encoding, Retry-After, Etag, Vary,
// Cache-Control and Allow. If headers is given, the answer must have exactly those of
// them; without headers, none is compared. A step without want accepts any answer. A
// string in want can be a placeholder:
//
//	<uid> <rv> <time> <num>  any value of that class
//	<continue>               any text except ""
//	<uid:N> <rv:N>           the same value everywhere; a different N is a different value
//	<any>                    any value
//	<maybe>                  any value, or the member is absent
//	text <*> text            any text in place of <*>
//
// In the area openapi, descriptions are not compared.
//
// # Replay
//
// A [Replayer] takes the server's part: it answers requests in the order of the
// steps, and sends the events of their watches. It needs complete answers, without
// only, and sends a value of the right class in place of each placeholder.
//
// # The webhook server
//
// ${webhook} serves over HTTPS:
//
//	/convert         conversion between hostPort "h:p" (version v1beta1) and host and port (all others)
//	/convert-fail    conversion that fails
//	/convert-rename  conversion that changes metadata.name, which a server must reject
//	/mutate          adds the label mutated=true
//	/validate        denies objects labelled deny=true, with its own status; warns on warn=true
//	/echo            allows, and warns with the operation, resource, subresource, dryRun and user
//	/slow            allows after 3 seconds
//	/error           answers 500
package scenarios
