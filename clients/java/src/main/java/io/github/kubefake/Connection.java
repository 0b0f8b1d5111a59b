package io.github.kubefake;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URL;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Sends requests to the control endpoint of the server of a kubeconfig. */
final class Connection {
  private final String url;
  private final String token;
  private final SSLContext tls; // null without TLS

  Connection(String url, String kubeconfig) {
    this.url = url;
    token = field("token", kubeconfig);
    tls = url.startsWith("https:") ? trusting(Base64.getDecoder().decode(field("certificate-authority-data", kubeconfig))) : null;
  }

  private static String field(String name, String kubeconfig) {
    Matcher found = Pattern.compile("^ +" + name + ": (\".*\")$", Pattern.MULTILINE).matcher(kubeconfig);
    return found.find() ? (String) Json.read(found.group(1)) : "";
  }

  private static SSLContext trusting(byte[] ca) {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(ca)));
      TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new KubeException("the kubeconfig has no usable CA certificate: " + e, e);
    }
  }

  /** Sends a request, and returns the JSON of the answer. */
  Object send(String method, String path, Map<String, Object> query, Object body) {
    StringJoiner search = new StringJoiner("&", "?", "").setEmptyValue("");
    query.forEach((name, value) -> {
      for (Object v : value instanceof Iterable<?> values ? values : List.of(value)) {
        search.add(name + "=" + URLEncoder.encode(v.toString(), StandardCharsets.UTF_8));
      }
    });
    return Json.read(read(method, path + search, "application/json", body));
  }

  /** Returns the body of the answer to a request. */
  String read(String method, String path, String accept, Object body) {
    try {
      HttpURLConnection request = (HttpURLConnection) new URL(url + path).openConnection(Proxy.NO_PROXY);
      if (tls != null) {
        ((HttpsURLConnection) request).setSSLSocketFactory(tls.getSocketFactory());
      }
      request.setRequestMethod(method);
      request.setRequestProperty("Accept", accept);
      if (!token.isEmpty()) {
        request.setRequestProperty("Authorization", "Bearer " + token);
      }
      if (body != null) {
        request.setRequestProperty("Content-Type", "application/json");
        request.setDoOutput(true);
        request.getOutputStream().write(Json.write(body).getBytes(StandardCharsets.UTF_8));
      }
      int code = request.getResponseCode();
      try (InputStream in = code < 400 ? request.getInputStream() : request.getErrorStream()) {
        String text = in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        if (code >= 400) {
          throw new KubeException(message(text), code);
        }
        return text;
      }
    } catch (IOException e) {
      throw new KubeException(method + " " + url + path + ": " + e, e);
    }
  }

  /** The message of a Status, or the text if it is none. */
  private static String message(String text) {
    try {
      Object message = Json.fields(Json.read(text)).get("message");
      return message instanceof String ? (String) message : text;
    } catch (RuntimeException e) {
      return text;
    }
  }
}
