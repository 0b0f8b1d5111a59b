// Package cel implements the Common Expression Language of kube-apiserver 1.36:
// the base environment, the declaration types of schemas, estimated and actual costs,
// the validation rules of CustomResourceDefinitions (x-kubernetes-validations), and the
// expressions of admission policies. Package library has the functions that
// kube-apiserver adds to the language.
//
// An expression is compiled in an environment, which declares variables, to a
// program. Costs are counted in units of about a hundred nanoseconds. The estimated
// cost is the maximal cost within the limits of the schema; a definition whose
// rules exceed the limit is invalid. The actual cost is counted while a program
// runs and is limited by a budget.
//
// kube-apiserver distinguishes new expressions from stored ones. In 1.36 both have
// the same environment, since all its libraries exist since 1.34.
//
// The environment is built when the first expression is compiled.
package cel
