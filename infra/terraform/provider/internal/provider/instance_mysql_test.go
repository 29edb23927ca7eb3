package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func mysqlAt(s *server, name, more string) string {
	return fmt.Sprintf(`resource "fqc_instance" "i" {
  name             = %q
  instance_class   = "local.small"
  host             = %q
  port             = %d
  username         = %q
  password_version = 1
  %s
}
output "product" { value = fqc_instance.i.product }
output "edition" { value = fqc_instance.i.edition }
`, name, s.Host, s.Port, s.Username, more)
}

func password(s *server) string { return fmt.Sprintf("password = %q\n", s.Password) }

func TestAMySQLServerSaysWhatItIsAndIsLoggedInToByItsKey(t *testing.T) {
	s, server := needMySQL(t)
	w := s.workdir(t)
	// After FLUSH PRIVILEGES the server's cache no longer has the account's hash, so the client has to send the
	// encrypted password.
	server.run(t, "FLUSH PRIVILEGES")
	w.apply(mysqlAt(server, "mysql-by-key", password(server)+fmt.Sprintf("public_key = %q", server.PublicKey)))
	if found := w.outputs(); found["product"] != "MySQL" || found["edition"] == "" {
		t.Errorf("it says of itself %v", found)
	}
	w.configure(mysqlAt(server, "mysql-by-key", ""))
	code, out := w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "password") {
		t.Errorf("its key is taken away without the password (%d):\n%s", code, out)
	}
	w.configure(mysqlAt(server, "mysql-by-key", password(server)+`public_key = "no key"`))
	code, out = w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "public_key") {
		t.Errorf("any text is a key (%d):\n%s", code, out)
	}
}

func TestAServersCertificateIsVerified(t *testing.T) {
	s, server := needMySQL(t)
	w := s.workdir(t)
	own, other := certificate(t, server.Folder, "own"), certificate(t, server.Folder, "other")
	at := func(name string) string { return filepath.Join(server.Folder, name) }
	server.run(t, fmt.Sprintf("SET GLOBAL ssl_ca = '%s', ssl_cert = '%s', ssl_key = '%s'; ALTER INSTANCE RELOAD TLS",
		at("own.pem"), at("own.pem"), at("own.key")))
	believing := func(pem string) string {
		return mysqlAt(server, "mysql-by-tls", password(server)+fmt.Sprintf("is_tls_required = true\ntls_ca = %q", pem))
	}
	w.configure(believing(other))
	code, out := w.run("apply", "-auto-approve", "-no-color")
	if code != 1 || !strings.Contains(out, "certificate") {
		t.Errorf("it is believed whatever signed its certificate (%d):\n%s", code, out)
	}
	w.apply(believing(own))
	if found := w.outputs(); found["product"] != "MySQL" {
		t.Errorf("it says of itself %v", found)
	}
}

func TestALocalMySQLServerIsMadeAndIsReplacedByOneOfAnotherProduct(t *testing.T) {
	s, _ := needMySQL(t)
	w := s.workdir(t)
	of := func(product string) string {
		return fmt.Sprintf(`resource "fqc_instance" "i" {
  name           = "terraform-local-mysql"
  instance_class = "local.small"
  product        = %q
}
output "product" { value = fqc_instance.i.product }
`, product)
	}
	w.apply(of("MySQL"))
	if found := w.outputs(); found["product"] != "MySQL" {
		t.Errorf("it says of itself %v", found)
	}
	w.configure(of("MariaDB"))
	if _, out := w.run("plan", "-no-color"); !strings.Contains(out, "must be replaced") {
		t.Errorf("another product does not replace it:\n%s", out)
	}
	w.configure(of("MySQL"))
}

// certificate writes a self-signed certificate for the loopback address to name.pem, and its key to name.key, in the
// folder.
func certificate(t *testing.T, folder, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	facts := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, facts, facts, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	made := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	write(t, filepath.Join(folder, name+".pem"), made)
	write(t, filepath.Join(folder, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return string(made)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
