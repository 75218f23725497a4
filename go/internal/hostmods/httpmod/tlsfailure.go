package httpmod

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"time"
)

// tlsError words what went wrong before the first byte of HTTP; nil when it was something else. All
// names are the server's to choose, so they are quoted or checked, and few.
func tlsError(err error) *Error {
	reason, message := certificateFault(err)
	if reason == "" {
		reason, message = handshakeFault(err)
	}
	if reason == "" {
		return nil
	}
	e := upstream(message, false, err)
	e.Reason = reason
	return e
}

func certificateFault(err error) (reason, message string) {
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return ReasonName, nameFault(e)
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return ReasonAuthority, authorityFault(e)
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return timeFault(e.Cert)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return ReasonInvalid, "the server's certificate is not trusted: " + strings.TrimPrefix(e.Err.Error(), "x509: ")
	}
	return "", ""
}

func nameFault(e x509.HostnameError) string {
	const most = 3
	var names []string
	for _, name := range e.Certificate.DNSNames {
		if validName(strings.ToLower(strings.TrimPrefix(name, "*."))) {
			names = append(names, name)
		}
	}
	for _, ip := range e.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "the server's certificate names no host, so it does not stand for " + e.Host + "; the server needs one with that name"
	}
	if len(names) > most {
		names = append(names[:most], "others")
	}
	return "the server's certificate is for " + strings.Join(names, ", ") + " and not for " + e.Host + "; use a name that it is for"
}

// Go reads the variable only once, so a script cannot set it and nothing is lost by telling it.
func authorityFault(e x509.UnknownAuthorityError) string {
	who := "an authority that is not trusted here"
	if c := e.Cert; c != nil {
		if bytes.Equal(c.RawIssuer, c.RawSubject) {
			who = "itself"
		} else if c.Issuer.CommonName != "" {
			who += ", " + quote(c.Issuer.CommonName)
		}
	}
	return "the server's certificate is signed by " + who +
		"; to trust it, name a file with the signer's certificate (PEM) in SSL_CERT_FILE when the program starts"
}

func timeFault(c *x509.Certificate) (reason, message string) {
	whose := "the server's certificate"
	if c.IsCA {
		whose = "the certificate of the server's authority " + quote(c.Subject.CommonName)
	}
	at := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
	if time.Now().Before(c.NotBefore) {
		return ReasonNotYetValid, whose + " is not valid before " + at(c.NotBefore) + "; check the clock of this machine"
	}
	return ReasonExpired, whose + " expired on " + at(c.NotAfter) + "; the server needs a new one, unless the clock of this machine is wrong"
}

func handshakeFault(err error) (reason, message string) {
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return ReasonNotTLS, "the server does not speak TLS on this port; a URL with http:// may be meant"
	}
	text := err.Error()
	refused := ""
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "remote error" {
		refused = strings.TrimPrefix(e.Err.Error(), "tls: ")
	}
	switch {
	case strings.Contains(text, "protocol version"): // these errors have no type of their own
		return ReasonTLSVersion, "the server has no version of TLS in common with this client, which speaks TLS 1.2 and 1.3"
	case refused != "":
		return ReasonHandshake, "the server refused the TLS handshake: " + refused
	case strings.HasPrefix(text, "tls: "):
		return ReasonHandshake, "the TLS handshake failed: " + strings.TrimPrefix(text, "tls: ")
	}
	return "", ""
}
