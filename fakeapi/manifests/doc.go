// Package manifests validates files of Kubernetes objects with an API server in the process.
//
// Validate gives every object of files, folders and streams to the write path of a
// [fakeapi.Server]: decoding, defaults, validation, CEL rules, admission plugins, policies. The
// answers are those of kube-apiserver, and each finding has the line and the column of its field:
//
//	for r, err := range manifests.Validate(ctx, manifests.Config{}, "deploy/") {
//		if err != nil {
//			return err // the configuration is invalid, or ctx has ended
//		}
//		for _, f := range r.Findings {
//			fmt.Printf("%s:%d:%d: %s: %s\n", r.File, f.Line, f.Column, f.Severity, f.Message)
//		}
//	}
//
// # Order
//
// The input is read twice. First the server stores the objects on which the answers for others
// depend, wherever they stand: CustomResourceDefinitions, Namespaces, classes, policies with their
// bindings and parameters, webhook configurations, quotas, LimitRanges, ServiceAccounts, roles.
// Then it answers for all others without storing them, as the dry run of a server-side apply.
// Memory does not grow with the number of the objects. Results have the order of the input.
//
// # Updates
//
// With Config.Base the server first stores other objects, as a cluster has them, and answers what
// the input does to each: Result.State and Answer.Changes.
//
// # Upgrades
//
// With Config.From and Config.To the findings are what an upgrade of a cluster changes for the
// objects. Each one is stored as the release From stores it, for as long as it is validated. Each
// later release reads it and, as dry runs, creates it anew, writes what it has read, and applies
// the document again. What a release serves otherwise than the one before is a finding too.
//
// # Limits
//
// A file, and the standard input, may have 256 MiB. A document may have 16 MiB, and an object 3 MiB,
// which is the limit of kube-apiserver for a request.
package manifests
