// Package allocator allocates the cluster IPs and node ports of Services.
//
// The store is the record of what is allocated: a cluster IP as long as there is
// an IPAddress of its name, a node port as long as a Service has it. So nothing
// is released by hand, and a fork or a restored snapshot has the right state.
// Between the choice of an address or port and the commit that stores it, a
// [Reservation] keeps other writes from choosing it too.
//
// See https://kubernetes.io/docs/concepts/services-networking/cluster-ip-allocation/.
package allocator
