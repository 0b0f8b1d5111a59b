use std::{
    collections::hash_map::RandomState,
    env, fs,
    hash::{BuildHasher, Hasher},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        Arc, Mutex,
    },
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    connection::Connection,
    control::{Advance, Compaction, Control, Lag, Lags, Objects, Revision, Settling, User, WebhookListener, Webhooks, Write},
    executable::find_binary,
    format, Error, Fault, Options, Result,
};

/// A Kubernetes API server for tests: a process of the command fakeapi, or a fork of another
/// server. It ends when its last clone is dropped.
#[derive(Clone, Debug)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    url: String,
    kubeconfig: String,
    control: Control,
    directory: PathBuf, // of the process
    owner: Owner,
}

/// What ends with a server.
#[derive(Debug)]
enum Owner {
    Process(Mutex<Child>),
    Fork { parent: Server, id: String },
}

impl Drop for Inner {
    fn drop(&mut self) {
        match &mut self.owner {
            Owner::Process(child) => {
                end(child.get_mut().unwrap_or_else(|e| e.into_inner()));
                let _ = fs::remove_dir_all(&self.directory); // the process has deleted it, unless it was killed
            }
            Owner::Fork { parent, id } => {
                // It fails if the process of the servers has ended.
                let _ = parent.connection().exchange("DELETE", &format!("/debug/fakeapi/forks?id={id}"), "application/json", None);
            }
        }
    }
}

/// Ends a process.
fn end(child: &mut Child) {
    #[cfg(unix)]
    let asked = Command::new("kill").arg(child.id().to_string()).status().is_ok_and(|status| status.success());
    #[cfg(not(unix))]
    let asked = false;
    if !asked {
        let _ = child.kill(); // it has ended
    }
    let _ = child.wait();
}

/// Creates a directory that only the user can read.
fn create_directory() -> Result<PathBuf> {
    let random = RandomState::new().build_hasher().finish();
    let directory = env::temp_dir().join(format!("fakeapi{random:016x}"));
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&directory)?;
    Ok(directory)
}

impl Server {
    /// Starts a server without options.
    pub async fn start() -> Result<Self> {
        Self::start_with(Options::new()).await
    }

    /// Starts a process of the command fakeapi. It ends with this process at the latest.
    pub async fn start_with(options: Options) -> Result<Self> {
        let flags = options.flags;
        let server = tokio::task::spawn_blocking(move || Self::spawn(&flags)).await.map_err(Error::new)??;
        if !options.objects.is_empty() {
            server.store(options.objects).await?;
        }
        Ok(server)
    }

    fn spawn(flags: &[String]) -> Result<Self> {
        let binary = find_binary()?;
        let directory = create_directory()?;
        Self::spawn_in(&binary, &directory, flags).inspect_err(|_| {
            let _ = fs::remove_dir_all(&directory);
        })
    }

    fn spawn_in(binary: &Path, directory: &Path, flags: &[String]) -> Result<Self> {
        let kubeconfig = directory.join("kubeconfig");
        let messages = directory.join("stderr");
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--quiet", "--with-parent"])
            .args(["--delete-at-end".as_ref(), directory.as_os_str(), "--kubeconfig".as_ref(), kubeconfig.as_os_str()])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&messages)?)
            .spawn()
            .map_err(|e| Error::new(format!("{}: {e}", binary.display())))?;
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut url)?;
        }
        if url.is_empty() {
            child.wait()?;
            let mut message = String::new();
            fs::File::open(&messages)?.read_to_string(&mut message)?;
            return Err(Error::new(if message.is_empty() { "fakeapi serve has ended" } else { message.trim() }));
        }
        let kubeconfig = fs::read_to_string(kubeconfig)?;
        Self::new(url.trim(), kubeconfig, directory, Owner::Process(Mutex::new(child)))
    }

    fn new(url: &str, kubeconfig: String, directory: &Path, owner: Owner) -> Result<Self> {
        let control = Control { connection: Connection::new(url, &kubeconfig)? };
        Ok(Self(Arc::new(Inner { url: url.to_string(), kubeconfig, control, directory: directory.to_path_buf(), owner })))
    }

    fn connection(&self) -> &Connection {
        &self.0.control.connection
    }

    /// Starts a server with the same state, on a port of its own. The two are independent.
    pub async fn fork(&self) -> Result<Self> {
        let fork = self.control().fork().await?;
        Self::new(&fork.url, fork.kubeconfig, &self.0.directory, Owner::Fork { parent: self.clone(), id: fork.id })
    }

    /// The base URL, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The text of a kubeconfig. Its user is a member of system:masters.
    pub fn kubeconfig(&self) -> &str {
        &self.0.kubeconfig
    }

    /// The path of a file with the kubeconfig, for other programs. The process of the server
    /// deletes it at its end.
    pub fn kubeconfig_file(&self) -> Result<PathBuf> {
        static FILES: AtomicUsize = AtomicUsize::new(0);
        let file = self.0.directory.join(format!("kubeconfig-{}", FILES.fetch_add(1, Ordering::Relaxed)));
        fs::write(&file, self.kubeconfig())?;
        Ok(file)
    }

    /// The text of a kubeconfig of a user. The server needs [`Options::rbac`] or the flag `--tls`.
    pub async fn kubeconfig_for(&self, user: &str, groups: &[&str]) -> Result<String> {
        let user = User { name: user.into(), groups: groups.iter().map(ToString::to_string).collect(), ..User::default() };
        Ok(self.control().kubeconfig(&user).await?.kubeconfig)
    }

    /// A client. Its user is a member of system:masters.
    #[cfg(feature = "kube")]
    pub async fn client(&self) -> Result<kube::Client> {
        client_of(self.kubeconfig()).await
    }

    /// A client of a user. The server needs [`Options::rbac`] or the flag `--tls`.
    #[cfg(feature = "kube")]
    pub async fn client_for(&self, user: &str, groups: &[&str]) -> Result<kube::Client> {
        client_of(&self.kubeconfig_for(user, groups).await?).await
    }

    /// Every request of the control endpoint.
    pub fn control(&self) -> &Control {
        &self.0.control
    }

    /// Stores objects with their status, without admission and validation of their spec.
    pub async fn store(&self, objects: impl IntoIterator<Item = impl Serialize>) -> Result<Revision> {
        self.control().change_objects(&Objects { store: values(objects)?, ..Objects::default() }).await
    }

    /// Removes objects at once, without finalizers. Each needs only kind, apiVersion, and the
    /// namespace and name in metadata.
    pub async fn remove(&self, objects: impl IntoIterator<Item = impl Serialize>) -> Result<Revision> {
        self.control().change_objects(&Objects { remove: values(objects)?, ..Objects::default() }).await
    }

    /// Delays the watch caches of a resource, such as pods or deployments.apps; `*` is all.
    pub async fn lag(&self, resource: &str, by: Duration) -> Result<Lags> {
        self.control().lag(&Lag { resource: resource.into(), by: format(by), ..Lag::default() }).await
    }

    /// Stops the watch caches of a resource: reads and watches of them show what they show now.
    pub async fn freeze(&self, resource: &str) -> Result<Lags> {
        self.control().lag(&Lag { resource: resource.into(), frozen: true, ..Lag::default() }).await
    }

    /// Ends the lag of a resource.
    pub async fn thaw(&self, resource: &str) -> Result<Lags> {
        self.control().end_lag(Some(resource), None).await
    }

    /// Injects a fault, with the fields of fault files.
    pub async fn inject(&self, fault: Fault) -> Result<Injection> {
        let injected = self.control().inject_faults(&[fault]).await?;
        Ok(Injection { control: self.control().clone(), ids: injected.faults.into_iter().map(|f| f.fault.id).collect() })
    }

    /// The time of the server, in the form of RFC 3339.
    pub async fn now(&self) -> Result<String> {
        Ok(self.control().clock().await?.now)
    }

    /// Moves the clock forward, and runs the timers that are due.
    pub async fn advance(&self, by: Duration) -> Result<()> {
        self.control().advance_clock(&Advance { advance: format(by) }).await.map(drop)
    }

    /// Waits until the controllers, the watches and the clients have nothing left to do. On a
    /// manual clock it moves the clock to each next time at which a controller has something to
    /// do, up to that long ahead.
    pub async fn settle(&self, ahead: Duration) -> Result<()> {
        self.control().settle(&Settling { ahead: format(ahead), ..Settling::default() }).await.map(drop)
    }

    /// Removes old versions of objects, also from watch caches: older watches get 410.
    pub async fn compact(&self) -> Result<Revision> {
        self.control().compact(&Compaction { watch_cache: true, ..Compaction::default() }).await
    }

    /// Lets the test serve the webhooks of the configurations that the server has: the answer has
    /// the address to listen on, a certificate and its key.
    pub async fn install_webhooks(&self) -> Result<WebhookListener> {
        self.control().install_webhooks(&Webhooks::default()).await
    }

    /// The writes in the history, with their writers.
    pub async fn writes(&self) -> Result<Vec<Write>> {
        self.control().writes(None).await
    }

    /// The last events on the server: who wrote what, who had not seen it, what failed.
    pub async fn story(&self) -> Result<String> {
        self.connection().read("GET", "/debug/fakeapi/story".into(), "text/plain", None).await
    }

    /// The whole story as an HTML page.
    pub async fn story_page(&self) -> Result<String> {
        self.connection().read("GET", "/debug/fakeapi/story".into(), "text/html", None).await
    }
}

fn values(objects: impl IntoIterator<Item = impl Serialize>) -> Result<Vec<Value>> {
    Ok(objects.into_iter().map(serde_json::to_value).collect::<std::result::Result<_, _>>()?)
}

#[cfg(feature = "kube")]
async fn client_of(kubeconfig: &str) -> Result<kube::Client> {
    use kube::config::{Config, KubeConfigOptions, Kubeconfig};

    let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(Error::new)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(Error::new)?;
    kube::Client::try_from(config).map_err(Error::new)
}

/// Injected faults. They end with the server, or with [`Injection::remove`].
#[derive(Debug)]
pub struct Injection {
    control: Control,
    ids: Vec<String>,
}

impl Injection {
    /// How many requests, watches and webhook calls the faults have hit.
    pub async fn hits(&self) -> Result<i64> {
        let faults = self.control.list_faults().await?.faults;
        Ok(faults.iter().filter(|f| self.ids.contains(&f.fault.id)).map(|f| f.hits).sum())
    }

    /// Ends the faults and their effects.
    pub async fn remove(self) -> Result<()> {
        let ids: Vec<&str> = self.ids.iter().map(String::as_str).collect();
        self.control.remove_faults(&ids).await.map(drop)
    }
}
