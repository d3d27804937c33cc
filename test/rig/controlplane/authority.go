package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const certificateLife = 365 * 24 * time.Hour

// authority signs the API server's certificate and those of its users.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// identity is a certificate with its key, both PEM.
type identity struct {
	cert []byte
	key  []byte
}

func newAuthority() (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, fmt.Errorf("generating the authority's key: %w", err)
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kureka-test-rig"}, key)
	if err != nil {
		return authority{}, fmt.Errorf("signing the authority's certificate: %w", err)
	}
	return authority{cert: ca, key: key}, nil
}

// pem is the certificate clients trust.
func (a authority) pem() ([]byte, error) {
	return cert.EncodeCertificates(a.cert)
}

// issue signs a certificate for a user and its groups, or, with addresses, for a
// server that is reached under them.
func (a authority) issue(name string, groups []string, addresses ...net.IP) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("generating a key for %s: %w", name, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return identity{}, fmt.Errorf("choosing a serial number for %s: %w", name, err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(addresses) > 0 {
		template.IPAddresses = addresses
		template.DNSNames = []string{"localhost"}
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return identity{}, fmt.Errorf("signing the certificate of %s: %w", name, err)
	}
	return encode(name, der, key)
}

func encode(name string, der []byte, key *ecdsa.PrivateKey) (identity, error) {
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		return identity{}, fmt.Errorf("reading back the certificate of %s: %w", name, err)
	}
	certPEM, err := cert.EncodeCertificates(signed)
	if err != nil {
		return identity{}, fmt.Errorf("encoding the certificate of %s: %w", name, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return identity{}, fmt.Errorf("encoding the key of %s: %w", name, err)
	}
	return identity{cert: certPEM, key: keyPEM}, nil
}
