// Package weburl reads and writes URLs as browsers do, by the WHATWG URL standard: relative references, special schemes,
// percent-encoding, IPv4 and IPv6 addresses, domain names of any script in Punycode.
package weburl

import (
	"slices"
	"strconv"
	"strings"
)

// A URL is a parsed URL. Its parts are encoded, as they stand in the text.
type URL struct {
	Scheme             string
	Username, Password string
	Host               string
	HasHost            bool // file:///a has an empty host, mailto:a has none
	Port               int  // noPort if there is none, or the scheme's own
	Opaque             bool // the path is one text, as in mailto:a
	path               []string
	query, fragment    *string
}

const noPort = -1

// specialPorts are the special schemes with their ports.
var specialPorts = map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": noPort}

func special(scheme string) bool {
	_, yes := specialPorts[scheme]
	return yes
}

// A Reader parses URLs. Normalize converts text to the form NFKC, for domain names of other scripts than Latin.
type Reader struct{ Normalize func(string) string }

// An Error says why a text is no URL.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

// Parse reads a URL, relative to base unless that is nil.
func (r Reader) Parse(text string, base *URL) (*URL, error) {
	p := &parser{Reader: r, u: &URL{Port: noPort}, base: base, state: schemeStart}
	text = strings.TrimFunc(text, func(c rune) bool { return c <= ' ' })
	if err := p.run(text); err != nil {
		return nil, err
	}
	return p.u, nil
}

// Set changes a part by the name that it has in scripts, such as "port". As there, a text that does not fit changes
// nothing.
func (r Reader) Set(u *URL, part, text string) {
	switch part {
	case "protocol":
		r.override(u, text+":", schemeStart)
	case "username", "password":
		r.setCredentials(u, part, text)
	case "host", "hostname":
		if !u.Opaque {
			r.override(u, text, map[string]state{"host": hostState, "hostname": hostnameState}[part])
		}
	case "port":
		if u.mayNotHavePort() {
			return
		}
		if text == "" {
			u.Port = noPort
		} else {
			r.override(u, text, portState)
		}
	case "pathname":
		if !u.Opaque {
			u.path = nil
			r.override(u, text, pathStart)
		}
	case "search":
		u.query = nil
		if text != "" {
			u.query = new(string)
			r.override(u, strings.TrimPrefix(text, "?"), queryState)
		}
	case "hash":
		u.fragment = nil
		if text != "" {
			u.fragment = new(string)
			r.override(u, strings.TrimPrefix(text, "#"), fragmentState)
		}
	}
}

// override parses text from a state on, and changes u only if that succeeds.
func (r Reader) override(u *URL, text string, s state) {
	changed := *u
	changed.path = slices.Clone(u.path)
	p := &parser{Reader: r, u: &changed, state: s, only: s}
	if p.run(text) == nil {
		*u = changed
	}
}

func (r Reader) setCredentials(u *URL, part, text string) {
	if u.mayNotHavePort() {
		return
	}
	if part == "username" {
		u.Username = encode(text, userinfoSet)
	} else {
		u.Password = encode(text, userinfoSet)
	}
}

func (u *URL) mayNotHavePort() bool { return !u.HasHost || u.Host == "" || u.Scheme == "file" }

func (u *URL) hasCredentials() bool { return u.Username != "" || u.Password != "" }

// shorten takes the last segment off the path, but not the drive of a file's.
func (u *URL) shorten() {
	n := len(u.path)
	if u.Scheme == "file" && n == 1 && isDrive(u.path[0], ":") || n == 0 {
		return
	}
	u.path = u.path[:n-1]
}

// Path returns the path as text.
func (u *URL) Path() string {
	if u.Opaque {
		return u.path[0]
	}
	if len(u.path) == 0 {
		return ""
	}
	return "/" + strings.Join(u.path, "/")
}

// HostPort returns the host with the port, if there is one.
func (u *URL) HostPort() string {
	if u.Port == noPort {
		return u.Host
	}
	return u.Host + ":" + strconv.Itoa(u.Port)
}

// PortText returns the port, or "".
func (u *URL) PortText() string {
	if u.Port == noPort {
		return ""
	}
	return strconv.Itoa(u.Port)
}

// Search returns the query with its question mark, or "" if there is none or it is empty.
func (u *URL) Search() string { return behind("?", u.query) }

// Hash returns the fragment with its number sign, or "" if there is none or it is empty.
func (u *URL) Hash() string { return behind("#", u.fragment) }

func behind(sign string, part *string) string {
	if part == nil || *part == "" {
		return ""
	}
	return sign + *part
}

// Origin returns the scheme, host and port that pages of one site share; "null" for schemes without sites.
func (u *URL) Origin(r Reader) string {
	switch u.Scheme {
	case "blob":
		if inner, err := r.Parse(u.Path(), nil); err == nil && (inner.Scheme == "http" || inner.Scheme == "https") {
			return inner.Origin(r)
		}
	case "http", "https", "ws", "wss", "ftp":
		return u.Scheme + "://" + u.HostPort()
	}
	return "null"
}

// String returns the whole URL.
func (u *URL) String() string {
	var b strings.Builder
	b.WriteString(u.Scheme + ":")
	if u.HasHost {
		b.WriteString("//")
		if u.hasCredentials() {
			b.WriteString(u.Username)
			if u.Password != "" {
				b.WriteString(":" + u.Password)
			}
			b.WriteByte('@')
		}
		b.WriteString(u.HostPort())
	} else if !u.Opaque && len(u.path) > 1 && u.path[0] == "" {
		b.WriteString("/.") // else the path would be read as a host
	}
	b.WriteString(u.Path())
	if u.query != nil {
		b.WriteString("?" + *u.query)
	}
	if u.fragment != nil {
		b.WriteString("#" + *u.fragment)
	}
	return b.String()
}
