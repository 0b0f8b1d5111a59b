// Package cluster is what API servers serve and do beside the requests of their clients: the
// objects of a fresh cluster, CustomResourceDefinitions, APIServices, webhooks and policies, the
// watch caches of each API server, and forks, snapshots, states and upgrades.
//
// The life of an object is package registry's, which a [Cluster] embeds. It notifies the cluster of each
// write before the client has its answer, so that what follows from a definition, a webhook or
// a FlowSchema is there when the write returns.
package cluster
