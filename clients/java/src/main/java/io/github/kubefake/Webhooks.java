package io.github.kubefake;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Where and how a test serves webhooks over HTTPS. */
public final class Webhooks {
  private final Control.WebhookListener listener;

  Webhooks(Control.WebhookListener listener) {
    this.listener = listener;
  }

  /** The address to listen on. */
  public InetSocketAddress address() {
    return new InetSocketAddress(listener.host(), (int) listener.port());
  }

  /** The certificate in PEM, valid for the DNS names of the Services. */
  public String certificate() {
    return listener.certificate();
  }

  /** The key of the certificate in PEM. */
  public String key() {
    return listener.key();
  }

  /** The CA certificate in PEM, for configurations that are written later. */
  public String caBundle() {
    return listener.caBundle();
  }

  /** The context for a server of webhooks, such as an HttpsConfigurator of the JDK. */
  public SSLContext sslContext() {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      Certificate certificate = CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(certificate().getBytes(StandardCharsets.UTF_8)));
      byte[] der = Base64.getMimeDecoder().decode(key().replaceAll("-----[A-Z ]+-----", ""));
      PrivateKey key = KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(der));
      char[] password = new char[0];
      store.setKeyEntry("webhooks", key, password, new Certificate[] {certificate});
      KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new KubeException("the certificate of the webhooks is not usable: " + e, e);
    }
  }
}
