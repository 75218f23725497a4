package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	template := certificate(name)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	a := &authority{}
	a.cert, a.key = sign(t, template, nil)
	return a
}

// certificate is one that holds now, for this machine.
func certificate(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-24 * time.Hour),
		NotAfter:     now.Add(24 * time.Hour),
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// sign makes a certificate; without an authority it is signed by itself.
func sign(t *testing.T, template *x509.Certificate, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	bytes, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(bytes)
	require.NoError(t, err)
	return cert, key
}

// write puts certificate and key into dir, as name.pem and name.key.
func write(t *testing.T, dir, name string, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: cert.Raw},
		name + ".key": {Type: "PRIVATE KEY", Bytes: der},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600))
	}
}

// badCertificates are those that no client may take, by what is wrong with them.
var badCertificates = map[string]func(*x509.Certificate){
	"expired": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-48*time.Hour), time.Now().Add(-24*time.Hour)
	},
	"early": func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour)
	},
	"elsewhere": func(c *x509.Certificate) {
		c.DNSNames, c.IPAddresses = []string{"example.com", "www.example.com"}, nil
	},
	"nameless": func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = nil, nil },
	"client":   func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
	"self":     func(*x509.Certificate) {},
	"stranger": func(*x509.Certificate) {},
}

// writeCertificates makes the files that the configuration of nginx names, and ca.pem, which signed the
// good ones.
func writeCertificates(t *testing.T, dir string) {
	t.Helper()
	trusted, stranger := newAuthority(t, "Trusted"), newAuthority(t, "Stranger")
	write(t, dir, "ca", trusted.cert, trusted.key)
	signers := map[string]*authority{"self": nil, "stranger": stranger}
	for name, spoil := range badCertificates {
		template := certificate(name)
		spoil(template)
		by, other := signers[name]
		if !other {
			by = trusted
		}
		cert, key := sign(t, template, by)
		write(t, dir, name, cert, key)
	}
	cert, key := sign(t, certificate("good"), trusted)
	write(t, dir, "good", cert, key)
}
