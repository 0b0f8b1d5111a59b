package resource

// EtcdKey returns the key of an object in kube-apiserver's etcd. Errors of
// failed preconditions show it; the key in the store is [Type.Key]. In a dry
// run kube-apiserver's key lacks the prefix /registry.
func (t *Type) EtcdKey(namespace, name string, dryRun bool) string {
	root, folder := "/registry/", t.EtcdFolder
	if folder == "" {
		folder = builtinEtcdFolder(t)
	}
	if dryRun {
		root = "/"
	}
	if namespace != "" {
		folder += "/" + namespace
	}
	return root + folder + "/" + name
}

// builtinEtcdFolder returns the folder that kube-apiserver configures for a
// built-in resource.
func builtinEtcdFolder(t *Type) string {
	switch t.Group {
	case "apiextensions.k8s.io", "apiregistration.k8s.io":
		return t.Group + "/" + t.Name
	}
	switch t.Name {
	case "endpoints":
		return "services/endpoints"
	case "ingresses":
		return "ingress"
	case "nodes":
		return "minions"
	case "replicationcontrollers":
		return "controllers"
	case "services":
		return "services/specs"
	}
	return t.Name
}
