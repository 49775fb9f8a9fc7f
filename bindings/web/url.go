package web

import (
	"net"
	"net/url"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang/diag"
)

var defaultPorts = map[string]string{"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443"}

func (w *web) url() (*goja.Object, error) {
	parse := w.Func("parse", func(call goja.FunctionCall) (goja.Value, error) { return w.parseURL(call) })
	decode := w.Func("decode", func(call goja.FunctionCall) (goja.Value, error) {
		text := call.Argument(0).String()
		if plain, err := url.QueryUnescape(text); err == nil {
			text = plain
		}
		return w.VM().ToValue(text), nil
	})
	encode := w.Func("encode", func(call goja.FunctionCall) (goja.Value, error) {
		return w.VM().ToValue(strings.ReplaceAll(url.QueryEscape(call.Argument(0).String()), "~", "%7E")), nil
	})
	v, err := w.script("web/url.js", urlSource, parse, decode, encode)
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}

// parseURL gives the parts of a URL, resolved against a base.
func (w *web) parseURL(call goja.FunctionCall) (goja.Value, error) {
	text := strings.TrimSpace(call.Argument(0).String())
	u, err := url.Parse(text)
	if err == nil && !goja.IsUndefined(call.Argument(1)) {
		var base *url.URL
		if base, err = url.Parse(call.Argument(1).String()); err == nil {
			u = base.ResolveReference(u)
		}
	}
	if err != nil || u.Scheme == "" || defaultPorts[u.Scheme] != "" && u.Hostname() == "" {
		return nil, &diag.Diagnostic{ID: "invalid-url", Name: "TypeError", Message: "this is no absolute URL: " + text, Hint: "write the scheme, as in https://…, or give a base as second argument"}
	}
	o := bindings.NewExports(w.Engine)
	o.Set("protocol", strings.ToLower(u.Scheme)+":")
	o.Set("authority", u.Host != "" || u.Scheme == "file")
	password, _ := u.User.Password()
	o.Set("username", url.PathEscape(u.User.Username()))
	o.Set("password", url.PathEscape(password))
	host := strings.ToLower(u.Hostname())
	if net.ParseIP(host) != nil && strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	o.Set("hostname", host)
	port := u.Port()
	if port == defaultPorts[u.Scheme] {
		port = ""
	}
	o.Set("port", port)
	o.Set("pathname", pathOf(u))
	search, hash := "", ""
	if u.RawQuery != "" {
		search = "?" + strings.ReplaceAll(u.RawQuery, " ", "%20")
	}
	if u.Fragment != "" {
		hash = "#" + u.EscapedFragment()
	}
	o.Set("search", search)
	o.Set("hash", hash)
	return o.Done()
}

// pathOf removes dot segments and gives a URL with a host at least a slash.
func pathOf(u *url.URL) string {
	if u.Opaque != "" {
		return u.Opaque
	}
	path := u.ResolveReference(&url.URL{Path: u.Path, RawPath: u.RawPath}).EscapedPath()
	if path == "" && u.Host != "" {
		return "/"
	}
	return path
}
