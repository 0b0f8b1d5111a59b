package main

// An operator is a public operator with a suite that uses envtest.
type operator struct {
	name       string
	repository string
	// version is a tag of the repository.
	version string
	// module is the folder of the module, and suite that of the package with the suite in it.
	module, suite string
	// account is the user that the operator is in a cluster.
	account string
	// roles are patterns of the files with the roles that the project ships, and with their
	// bindings, in the folder of the module.
	roles []string
	// manager replaces what gives the manager its configuration, and tests what gives the tests a
	// client of the manager.
	manager, tests []replacement
}

// A replacement is a pattern in the files of the suite, and what stands in its place, as of
// [regexp.Regexp.ReplaceAllString].
type replacement struct{ pattern, by string }

// newManager is how a suite makes a manager with the variable cfg.
var newManager = replacement{`ctrl\.NewManager\(cfg,`, `ctrl.NewManager(asManager(cfg),`}

// operators are those whose suites start with the drop-in and whose roles are YAML files.
var operators = []operator{
	{
		name: "jobset", repository: "https://github.com/kubernetes-sigs/jobset", version: "v0.12.0",
		module: ".", suite: "test/integration/controller",
		account: "system:serviceaccount:jobset-system:jobset-controller-manager",
		roles:   []string{"config/components/rbac/role.yaml", "config/components/rbac/role_binding.yaml"},
		manager: []replacement{newManager},
	},
	{
		name: "lws", repository: "https://github.com/kubernetes-sigs/lws", version: "v0.10.0",
		module: ".", suite: "test/integration/controllers",
		account: "system:serviceaccount:lws-system:lws-controller-manager",
		roles:   []string{"config/rbac/role.yaml", "config/rbac/role_binding.yaml"},
		manager: []replacement{newManager},
	},
	{
		name: "rabbitmq-cluster-operator", repository: "https://github.com/rabbitmq/cluster-operator", version: "v2.22.3",
		module: ".", suite: "internal/controller",
		account: "system:serviceaccount:rabbitmq-system:rabbitmq-cluster-operator",
		roles:   []string{"config/rbac/role.yaml", "config/rbac/role_binding.yaml"},
		manager: []replacement{newManager, {`Clientset:( +)clientSet,`, `Clientset:${1}kubernetes.NewForConfigOrDie(asManager(cfg)),`}},
		tests:   []replacement{{`client = mgr\.GetClient\(\)`, `client = asTest(cfg, mgr.GetClient())`}},
	},
	{
		name: "rabbitmq-topology-operator", repository: "https://github.com/rabbitmq/messaging-topology-operator", version: "v1.20.1",
		module: ".", suite: "internal/controller",
		account: "system:serviceaccount:rabbitmq-system:messaging-topology-operator",
		roles:   []string{"config/rbac/role.yaml", "config/rbac/role_binding.yaml"},
		manager: []replacement{{`ctrl\.NewManager\(testEnv\.Config,`, `ctrl.NewManager(asManager(testEnv.Config),`}},
		tests:   []replacement{{`k8sClient = (\w+)\.GetClient\(\)`, `k8sClient = asTest(testEnv.Config, ${1}.GetClient())`}},
	},
	{
		name: "kuberay", repository: "https://github.com/ray-project/kuberay", version: "v1.7.0",
		module: "ray-operator", suite: "controllers/ray",
		account: "system:serviceaccount:ray-system:kuberay-operator",
		roles:   []string{"config/rbac/role.yaml", "config/rbac/role_binding.yaml"},
		manager: []replacement{newManager},
	},
}
