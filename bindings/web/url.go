package web

import (
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/web/weburl"
	"github.com/orepl/orepl/lang/diag"
)

// url returns the classes URL and URLSearchParams. They are implemented by url.js on native functions that parse and format.
func (w *web) url() (*goja.Object, error) {
	normalize, _ := goja.AssertFunction(w.VM().Get("String").(*goja.Object).Get("prototype").(*goja.Object).Get("normalize"))
	reader := weburl.Reader{Normalize: func(text string) string {
		v, err := normalize(w.VM().ToValue(text), w.VM().ToValue("NFKC"))
		if err != nil { // a resource limit; leave the text unchanged
			return text
		}
		return v.String()
	}}
	text := func(name string, fn func(string) string) goja.Value {
		return w.Func(name, func(call goja.FunctionCall) (goja.Value, error) {
			return w.VM().ToValue(fn(call.Argument(0).String())), nil
		})
	}
	parse := w.Func("parse", func(call goja.FunctionCall) (goja.Value, error) {
		u, err := parseURL(reader, call)
		if err != nil {
			return nil, err
		}
		return w.urlParts(reader, u)
	})
	change := w.Func("change", func(call goja.FunctionCall) (goja.Value, error) {
		u, err := reader.Parse(call.Argument(0).String(), nil)
		if err != nil {
			return nil, err
		}
		reader.Set(u, call.Argument(1).String(), call.Argument(2).String())
		return w.urlParts(reader, u)
	})
	v, err := w.script("web/url.js", urlSource, parse, change, text("decode", weburl.DecodeForm), text("encode", weburl.EncodeForm))
	if err != nil {
		return nil, err
	}
	return v.(*goja.Object), nil
}

// parseURL parses the arguments (text, base?).
func parseURL(reader weburl.Reader, call goja.FunctionCall) (*weburl.URL, error) {
	var base *weburl.URL
	if v := call.Argument(1); !goja.IsUndefined(v) {
		var err error
		if base, err = reader.Parse(v.String(), nil); err != nil {
			return nil, invalidURL("the base", v.String(), err, true)
		}
	}
	text := call.Argument(0).String()
	u, err := reader.Parse(text, base)
	if err != nil {
		return nil, invalidURL("this", text, err, base != nil)
	}
	return u, nil
}

func invalidURL(what, text string, err error, based bool) error {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	d := &diag.Diagnostic{ID: "invalid-url", Name: "TypeError", Message: what + " is no absolute URL: " + text + " (" + err.Error() + ")"}
	if d.Hint = "an absolute URL looks like https://host/path"; !based && strings.Contains(err.Error(), "no scheme") {
		d.Hint = "write the scheme, as in https://…, or give a base as second argument"
	}
	return d
}

// urlParts returns an object with the parts of a URL, named like the getters of the class.
func (w *web) urlParts(reader weburl.Reader, u *weburl.URL) (goja.Value, error) {
	o := bindings.NewExports(w.Engine)
	for name, text := range map[string]string{
		"href": u.String(), "origin": u.Origin(reader), "protocol": u.Scheme + ":", "username": u.Username, "password": u.Password,
		"host": u.HostPort(), "hostname": u.Host, "port": u.PortText(), "pathname": u.Path(), "search": u.Search(), "hash": u.Hash(),
	} {
		o.Set(name, text)
	}
	return o.Done()
}
