// Package weburl parses and formats URLs according to the WHATWG URL Standard. It supports relative references, special
// schemes, percent-encoding, IPv4 and IPv6 addresses, and internationalized domain names.
package weburl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/later"
)

// A URL is a parsed URL. Its parts are percent-encoded.
type URL struct {
	Scheme             string
	Username, Password string
	Host               string
	HasHost            bool // true for file:///a, whose host is empty; false for mailto:a
	Port               int  // noPort if it is absent or the default port of the scheme
	Opaque             bool // the path is a single string, as in mailto:a
	path               []string
	query, fragment    *string
}

const noPort = -1

// specialPorts maps the special schemes to their default ports.
var specialPorts = later.Value[map[string]int]{Make: func() map[string]int {
	return map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": noPort}
}}

func special(scheme string) bool {
	_, yes := specialPorts.Get()[scheme]
	return yes
}

// A Reader parses URLs. Normalize returns the NFKC form of a text, for internationalized domain names.
type Reader struct{ Normalize func(string) string }

// An Error reports why a text is not a valid URL.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

// Parse parses a URL. It resolves a relative reference against base. If base is nil, a relative reference is an error.
func (r Reader) Parse(text string, base *URL) (*URL, error) {
	p := &parser{Reader: r, u: &URL{Port: noPort}, base: base, state: schemeStart}
	text = strings.TrimFunc(text, func(c rune) bool { return c <= ' ' })
	if err := p.run(text); err != nil {
		return nil, err
	}
	return p.u, nil
}

// Set changes a part by its property name in scripts, such as "port". It ignores an invalid text, as scripts expect.
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

// override parses text with a state override. It changes u on success only.
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

// shorten removes the last path segment, except the drive letter of a file URL.
func (u *URL) shorten() {
	n := len(u.path)
	if u.Scheme == "file" && n == 1 && isDrive(u.path[0], ":") || n == 0 {
		return
	}
	u.path = u.path[:n-1]
}

// Path returns the path as a string: "" if it has no parts.
func (u *URL) Path() string {
	if u.Opaque {
		return u.path[0]
	}
	if len(u.path) == 0 {
		return ""
	}
	return "/" + strings.Join(u.path, "/")
}

// HostPort returns the host, and the port unless absent.
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

// Search returns a non-empty query with its question mark, or "".
func (u *URL) Search() string { return behind("?", u.query) }

// Hash returns a non-empty fragment with its number sign, or "".
func (u *URL) Hash() string { return behind("#", u.fragment) }

func behind(sign string, part *string) string {
	if part == nil || *part == "" {
		return ""
	}
	return sign + *part
}

// Origin returns the origin of a URL: scheme, host and port, or "null" for an opaque origin.
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

// String returns the serialized URL.
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
		b.WriteString("/.") // distinguishes the path from a host
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
