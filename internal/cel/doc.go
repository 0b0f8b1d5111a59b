// Package cel is the Common Expression Language as Kubernetes speaks it: the
// environment of kube-apiserver 1.36 with all its libraries, the types that
// schemas give to objects, the estimated and the actual costs of expressions,
// and the rules that a CustomResourceDefinition states in
// x-kubernetes-validations.
//
// Terms: an expression is compiled in an environment, which has variables, to a
// program. Its cost is counted in units of about a hundred nanoseconds. The
// estimate is the most that it can cost given the limits in the schema, and
// decides whether a rule may be written; the actual cost is counted as a program
// runs, against a budget.
//
// kube-apiserver tells expressions that are new from those that were stored by
// another release. In 1.36 both see the same environment: all that is in it has
// been there since 1.34.
//
// Nothing is set up before the first expression is compiled.
package cel
