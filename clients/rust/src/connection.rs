use std::{
    fmt,
    io::{Read, Write},
    net::TcpStream,
    sync::Arc,
};

use serde::{de::DeserializeOwned, Serialize};

use crate::{Error, Result};

/// Sends requests to the control endpoint of the server of a kubeconfig.
///
/// It needs few requests, to a server of this machine: each has a connection of its own, and HTTP
/// 1.0 ends the answer with the connection.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Inner>);

struct Inner {
    address: String, // host:port
    token: String,   // "" sends none
    #[cfg(feature = "tls")]
    tls: Option<Arc<rustls::ClientConfig>>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({})", self.0.address)
    }
}

impl Connection {
    pub fn new(url: &str, kubeconfig: &str) -> Result<Self> {
        let (scheme, address) = url.split_once("://").ok_or_else(|| Error::new(format!("{url:?} is not a URL")))?;
        #[cfg(not(feature = "tls"))]
        if scheme == "https" {
            return Err(Error::new("a server with TLS needs the feature tls of the crate kubefake"));
        }
        Ok(Self(Arc::new(Inner {
            address: address.to_string(),
            token: field(kubeconfig, "token"),
            #[cfg(feature = "tls")]
            tls: if scheme == "https" { Some(trusting(&field(kubeconfig, "certificate-authority-data"))?) } else { None },
        })))
    }

    /// Sends a request, and returns the JSON of the answer.
    pub async fn send<B, T>(&self, method: &'static str, path: &str, query: &[(&str, Vec<String>)], body: Option<&B>) -> Result<T>
    where
        B: Serialize + ?Sized,
        T: DeserializeOwned,
    {
        let mut path = path.to_string();
        for (name, value) in query.iter().flat_map(|(name, values)| values.iter().map(move |v| (name, v))) {
            let separator = if path.contains('?') { '&' } else { '?' };
            path += &format!("{separator}{name}={}", escape(value));
        }
        let body = body.map(serde_json::to_vec).transpose()?;
        let text = self.read(method, path, "application/json", body).await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Returns the body of the answer to a request. The thread of the caller goes on with other
    /// tasks: the request may wait for what they do.
    pub async fn read(&self, method: &'static str, path: String, accept: &'static str, body: Option<Vec<u8>>) -> Result<String> {
        let this = self.clone();
        let request = move || this.exchange(method, &path, accept, body.as_deref());
        tokio::task::spawn_blocking(request).await.unwrap_or_else(|e| Err(Error::new(e)))
    }

    /// Does what `read` does, and blocks the thread.
    pub fn exchange(&self, method: &str, path: &str, accept: &str, body: Option<&[u8]>) -> Result<String> {
        let mut request = format!("{method} {path} HTTP/1.0\r\nHost: {}\r\nAccept: {accept}\r\n", self.0.address);
        if !self.0.token.is_empty() {
            request += &format!("Authorization: Bearer {}\r\n", self.0.token);
        }
        if let Some(body) = body {
            request += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        }
        let mut request = (request + "\r\n").into_bytes();
        request.extend(body.unwrap_or_default());

        let mut stream = TcpStream::connect(&self.0.address)?;
        #[cfg(feature = "tls")]
        if let Some(config) = &self.0.tls {
            let host = self.0.address.rsplit_once(':').map_or("", |(host, _)| host).trim_matches(['[', ']']);
            let name = rustls::pki_types::ServerName::try_from(host.to_string()).map_err(Error::new)?;
            let session = rustls::ClientConnection::new(config.clone(), name).map_err(Error::new)?;
            return answer(&mut rustls::StreamOwned::new(session, stream), &request);
        }
        answer(&mut stream, &request)
    }
}

/// Writes a request to a connection, and returns the body of the answer.
fn answer(stream: &mut (impl Read + Write), request: &[u8]) -> Result<String> {
    stream.write_all(request)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let malformed = || Error::new(format!("the answer is not HTTP: {answer:?}"));
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(malformed)?;
    let code: u16 = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(malformed)?;
    if code < 400 {
        return Ok(body.to_string());
    }
    let status: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    Err(Error { message: status["message"].as_str().unwrap_or(body).to_string(), code })
}

/// The value of a field of a kubeconfig, which the server writes as JSON; "" if it has none.
fn field(kubeconfig: &str, name: &str) -> String {
    let value = kubeconfig.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(": "));
    value.and_then(|v| serde_json::from_str(v).ok()).unwrap_or_default()
}

fn escape(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() || b"-._~".contains(&b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// A configuration that trusts a CA certificate, which is PEM in base64.
#[cfg(feature = "tls")]
fn trusting(ca: &str) -> Result<Arc<rustls::ClientConfig>> {
    use base64::Engine;
    use rustls::pki_types::{pem::PemObject, CertificateDer};

    let pem = base64::engine::general_purpose::STANDARD.decode(ca).map_err(Error::new)?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).map_err(Error::new)?).map_err(Error::new)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(Error::new)?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
