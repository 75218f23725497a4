// Package httpmod is the HTTP client that scripts use. It treats the script
// and the server as hostile: where a request may go, how long it may take and
// how much it may bring back are decided here, and nowhere else.
//
// It is not a general client: there is no cookie jar, no cache, and no retry
// beyond the one net/http makes when a kept connection turns out to be dead.
//
// # Where a request may go
//
// A [Policy] has two lists. Net names hosts and opens their public addresses;
// NetPrivate names hosts, addresses or ranges and opens everything else:
// loopback, private, link-local, shared, reserved, and addresses that carry
// such an IPv4 address inside them. A name must be in one of the lists before it
// is even looked up, so that a lookup cannot carry data out. The address that
// the lookup gave is checked again on the socket, just before it connects, for
// every hop of a redirect; a name that answers differently the second time
// gains nothing. An address or range in NetPrivate opens that address whatever
// granted name led to it.
//
// Hosts are compared in one spelling: lower case, punycode, no trailing dot, and
// every way to write an IPv4 number (2130706433, 0x7f.1, 0177.0.0.1) or an
// IPv4-mapped IPv6 address turned into the dotted form. What was compared is
// what is dialled.
//
// Through a proxy the last look-up is the proxy's and cannot be checked. The
// host name is held against the lists; when the name can be looked up here
// too, every address it has must be granted. A name this machine cannot look up
// is decided by its name alone.
//
// # What follows a redirect
//
// As browsers do: 303 turns everything but GET and HEAD into GET, 301 and 302
// turn POST into GET, and then body and Content-* headers go; 307 and 308 repeat
// method and body. When scheme, host or port change, only headers that cannot
// hold a secret are kept (see safeHeaders); any header of the script's own
// naming might be a key, so it stays behind. What was dropped does not come
// back on a later hop.
//
// # Bodies
//
// gzip and deflate are asked for and undone here, and the limit counts the
// bytes after that. A script that sets Accept-Encoding gets the bytes as sent. A
// body over the limit is an error, never a shorter body.
package httpmod
