use serde_json::Value;

/// What a server begins with.
///
/// ```
/// use kubefake::Options;
/// use serde_json::json;
///
/// let world = Options::new()
///     .clock("2030-01-01T09:00:00Z")
///     .store(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    pub(crate) flags: Vec<String>,
    pub(crate) objects: Vec<Value>,
}

impl Options {
    /// The options of a server that begins with nothing but what every cluster has.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a flag of `fakeapi serve`, such as `--tls`.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    fn value(self, flag: &str, value: &str) -> Self {
        self.flag(flag).flag(value)
    }

    /// Serves a Kubernetes release, such as 1.35.
    pub fn release(self, release: &str) -> Self {
        self.value("--release", release)
    }

    /// Runs controllers: `*` is all, and `deployment-controller,replicaset-controller` two.
    pub fn controllers(self, list: &str) -> Self {
        self.value("--controllers", list)
    }

    /// Creates the CustomResourceDefinitions of a file or a directory.
    pub fn crds(self, path: &str) -> Self {
        self.value("--crds", path)
    }

    /// Creates the objects of a file or a directory.
    pub fn objects(self, path: &str) -> Self {
        self.value("--objects", path)
    }

    /// Injects the faults of a file or a directory.
    pub fn faults(self, path: &str) -> Self {
        self.value("--faults", path)
    }

    /// Serves HTTPS, and authorizes users by RBAC.
    pub fn rbac(self) -> Self {
        self.flag("--tls").value("--authorization-mode", "RBAC")
    }

    /// Has a clock that stands at a time, such as 2030-01-01T09:00:00Z, until the test moves it.
    pub fn clock(self, time: &str) -> Self {
        self.value("--manual-clock", time)
    }

    /// Stores an object, without admission and validation of its spec.
    pub fn store(mut self, object: Value) -> Self {
        self.objects.push(object);
        self
    }
}
