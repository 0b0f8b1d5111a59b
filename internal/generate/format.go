package generate

import "github.com/kubefake/kubefake/internal/schema"

// formats has texts of the formats that strings in CustomResourceDefinitions have, by normalized name, the
// simplest one first.
var formats = map[string][]string{
	"bsonobjectid": {"507f1f77bcf86cd799439011"},
	"byte":         {"YQ==", "AAECAwQ="},
	"cidr":         {"10.0.0.0/8", "0.0.0.0/0", "2001:db8::/32"},
	"creditcard":   {"4111111111111111"},
	"date":         {"2024-02-29", "1970-01-01"},
	"datetime":     {"2024-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "2024-02-29T23:59:59.999999+14:00"},
	"duration":     {"1s", "0s", "1h30m", "100ms"},
	"email":        {"a@example.com"},
	"hexcolor":     {"#ff0000"},
	"hostname":     {"a", "example.com", "xn--bcher-kva.example"},
	"ipv4":         {"192.0.2.1", "0.0.0.0", "255.255.255.255"},
	"ipv6":         {"2001:db8::1", "::"},
	"isbn":         {"9783161484100"},
	"isbn10":       {"0321751043"},
	"isbn13":       {"9783161484100"},
	"k8slongname":  {"a", "a.example.com"},
	"k8sshortname": {"a", "a-b"},
	"mac":          {"00:00:5e:00:53:01"},
	"password":     {"a", ""},
	"rgbcolor":     {"rgb(255,0,0)"},
	"ssn":          {"078-05-1120"},
	"uri":          {"https://example.com/a", "urn:a:b"},
	"uuid":         {"6ba7b810-9dad-41d1-80b4-00c04fd430c8"},
	"uuid3":        {"6fa459ea-ee8a-3ca4-894e-db77e160355e"},
	"uuid4":        {"16fd2706-8baf-433b-82eb-8c7fada847da"},
	"uuid5":        {"886313e1-3b8a-5372-9b90-0c9aee199e5d"},
}

// formatted returns the texts of a format, nil if it is not known.
func formatted(format string) []string { return formats[schema.NormalizeFormat(format)] }
