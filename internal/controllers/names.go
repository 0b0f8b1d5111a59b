package controllers

import (
	"github.com/kubefake/kubefake/internal/controllers/controller"
	"github.com/kubefake/kubefake/internal/controllers/cronjob"
	"github.com/kubefake/kubefake/internal/controllers/deployment"
	"github.com/kubefake/kubefake/internal/controllers/garbagecollector"
	"github.com/kubefake/kubefake/internal/controllers/job"
	"github.com/kubefake/kubefake/internal/controllers/namespace"
	"github.com/kubefake/kubefake/internal/controllers/replicaset"
	"github.com/kubefake/kubefake/internal/controllers/replicationcontroller"
	"github.com/kubefake/kubefake/internal/controllers/scheduler"
	"github.com/kubefake/kubefake/internal/controllers/serviceaccount"
)

// An entry is a controller that exists.
type entry struct {
	name         string
	alias        string // the name before Kubernetes 1.28, which --controllers still takes
	start        func(*controller.Env)
	offByDefault bool
}

// known are the controllers in the order in which kube-controller-manager starts
// them.
var known = []entry{
	{name: "cronjob-controller", alias: "cronjob", start: cronjob.Start},
	{name: "deployment-controller", alias: "deployment", start: deployment.Start},
	{name: "garbage-collector-controller", alias: "garbagecollector", start: garbagecollector.Start},
	{name: "job-controller", alias: "job", start: job.Start},
	{name: "namespace-controller", alias: "namespace", start: namespace.Start},
	{name: "replicaset-controller", alias: "replicaset", start: replicaset.Start},
	{name: "replicationcontroller-controller", alias: "replicationcontroller", start: replicationcontroller.Start},
	{name: "scheduler", alias: "kube-scheduler", start: scheduler.Start},
	{name: "serviceaccount-controller", alias: "serviceaccount", start: serviceaccount.Start},
}
