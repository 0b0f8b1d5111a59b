package apiserver

// Files are the names of files that the server reads at its start, and again whenever they
// change, as kube-apiserver does. The fields are the flags of kube-apiserver of similar names;
// "" means that there is no such file. Certificates and keys are in PEM.
//
// The server looks at the files five times a second of real time, also with a manual clock:
// files change in real time. A file that cannot be read, or whose contents are not valid, has no
// effect until it changes again. Forks and replicas have the files of their server. The
// goroutine that looks at the files ends with the last of these servers.
type Files struct {
	// Certificate and Key take the place of Config.Certificate and Key. New connections get the new
	// certificate.
	Certificate, Key string

	// NamedCertificates are further certificates, for the names that clients ask for.
	NamedCertificates []NamedCertificateFiles

	// ClientCA takes the place of Config.ClientCA. With it, certificates of fakeapi.Server.Credentials
	// are not accepted. The ConfigMap extension-apiserver-authentication in kube-system has
	// the CAs, together with those before that have not expired.
	ClientCA string

	// RequestHeaderCA takes the place of ClientCA in Authentication.RequestHeader, which must
	// not be nil.
	RequestHeaderCA string

	// ProxyClientCertificate and ProxyClientKey are the client certificate for aggregated API
	// servers: those of APIServices with a service.
	ProxyClientCertificate, ProxyClientKey string

	// AuthenticationConfig takes the place of Config in Authentication. Its anonymous field
	// must not change.
	AuthenticationConfig string

	// AuthorizationConfig takes the place of Config in Authorization. Webhooks may come and go,
	// but the other types of its first contents must stay.
	AuthorizationConfig string

	// OnReload is called after a changed file was read again, with its name: the first name
	// of a pair, or the staticManifestsDir of an admission plugin. err is why the change has no
	// effect. Calls do not overlap. OnReload must not close the server.
	OnReload func(file string, err error)
}

// NamedCertificateFiles are the files of a certificate for clients that ask for one of its
// names.
type NamedCertificateFiles struct {
	// Certificate and Key are the names of the files.
	Certificate, Key string

	// Names are DNS names, which may begin with "*.", and IP addresses that clients connect
	// to. None means the names in the certificate.
	Names []string
}
