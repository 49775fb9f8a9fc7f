package weburl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A state is a state of the standard's basic URL parser.
type state int

const (
	noState state = iota
	schemeStart
	schemeState
	noScheme
	specialRelativeOrAuthority
	pathOrAuthority
	relative
	relativeSlash
	specialAuthoritySlashes
	specialAuthorityIgnoreSlashes
	authority
	hostState
	hostnameState
	portState
	fileState
	fileSlash
	fileHost
	pathStart
	pathState
	opaquePath
	queryState
	fragmentState
)

// eof represents the end of the text.
const eof = rune(-1)

// A parser implements the standard's basic URL parser, a state machine over the characters of a text.
type parser struct {
	Reader
	u, base *URL
	state   state
	only    state // the state override of the part to change; noState for a whole URL
	text    []rune
	at      int
	buffer  strings.Builder
	// flags of the authority state
	sawAt, sawColon, inBrackets bool
}

// errDone is not a failure: step returns it to end parsing once the part that a setter changes has been parsed.
var errDone = &Error{}

func fail(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

func (p *parser) run(text string) error {
	p.text = []rune(strings.Map(func(c rune) rune {
		if c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, text))
	for p.at = 0; ; p.at++ {
		c := p.char(0)
		if err := p.step(c); err == errDone {
			return nil
		} else if err != nil {
			return err
		}
		if c == eof && p.at >= len(p.text) {
			return nil
		}
	}
}

func (p *parser) char(ahead int) rune {
	if i := p.at + ahead; i >= 0 && i < len(p.text) {
		return p.text[i]
	}
	return eof
}

// reconsume switches to a state and reconsumes the current character.
func (p *parser) reconsume(s state) {
	p.state = s
	p.at--
}

func (p *parser) take() string {
	s := p.buffer.String()
	p.buffer.Reset()
	return s
}

// slash reports whether c separates path segments. In special URLs, a backslash does too.
func (p *parser) slash(c rune) bool { return c == '/' || c == '\\' && special(p.u.Scheme) }

// endsAuthority reports whether c, or the end of the text, ends the authority, which is the user, the host and the port.
func (p *parser) endsAuthority(c rune) bool { return c == eof || c == '?' || c == '#' || p.slash(c) }

func (p *parser) step(c rune) error {
	switch p.state {
	case schemeStart, schemeState:
		return p.scheme(c)
	case noScheme:
		return p.withoutScheme(c)
	case specialRelativeOrAuthority:
		if c == '/' && p.char(1) == '/' {
			p.state = specialAuthorityIgnoreSlashes
			p.at++
		} else {
			p.reconsume(relative)
		}
	case pathOrAuthority:
		if c == '/' {
			p.state = authority
		} else {
			p.reconsume(pathState)
		}
	case relative, relativeSlash:
		p.relative(c)
	case specialAuthoritySlashes:
		if c == '/' && p.char(1) == '/' {
			p.state = specialAuthorityIgnoreSlashes
			p.at++
		} else {
			p.reconsume(specialAuthorityIgnoreSlashes)
		}
	case specialAuthorityIgnoreSlashes:
		if c != '/' && c != '\\' {
			p.reconsume(authority)
		}
	case authority:
		return p.authority(c)
	case hostState, hostnameState:
		return p.host(c)
	case portState:
		return p.port(c)
	case fileState, fileSlash:
		p.file(c)
	case fileHost:
		return p.fileHost(c)
	case pathStart:
		p.pathStart(c)
	case pathState:
		p.path(c)
	case opaquePath:
		p.opaque(c)
	case queryState:
		p.query(c)
	case fragmentState:
		if c != eof {
			*p.u.fragment += encode(string(c), fragmentSet)
		}
	}
	return nil
}

func isAlpha(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func (p *parser) scheme(c rune) error {
	first := p.state == schemeStart
	switch {
	case isAlpha(c), !first && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		p.buffer.WriteString(strings.ToLower(string(c)))
		p.state = schemeState
		return nil
	case c == ':' && !first:
		return p.schemeEnds()
	case p.only != noState:
		return fail("a scheme is made of letters, digits, +, - and ., and begins with a letter")
	}
	p.buffer.Reset()
	p.at = 0
	p.reconsume(noScheme)
	return nil
}

func (p *parser) schemeEnds() error {
	scheme, u := p.take(), p.u
	if p.only != noState {
		if special(u.Scheme) != special(scheme) || scheme == "file" && (u.hasCredentials() || u.Port != noPort) || u.Scheme == "file" && u.Host == "" {
			return errDone
		}
		if u.Scheme = scheme; u.Port == specialPorts.Get()[scheme] {
			u.Port = noPort
		}
		return errDone
	}
	u.Scheme = scheme
	switch {
	case scheme == "file":
		p.state = fileState
	case special(scheme) && p.base != nil && p.base.Scheme == scheme:
		p.state = specialRelativeOrAuthority
	case special(scheme):
		p.state = specialAuthoritySlashes
	case p.char(1) == '/':
		p.state = pathOrAuthority
		p.at++
	default:
		u.Opaque, u.path = true, []string{""}
		p.state = opaquePath
	}
	return nil
}

func (p *parser) withoutScheme(c rune) error {
	switch {
	case p.base == nil:
		return fail("it has no scheme, such as https:")
	case p.base.Opaque && c != '#':
		return fail("nothing is relative to %s", p.base)
	case p.base.Opaque:
		p.u.Scheme, p.u.Opaque = p.base.Scheme, true
		p.inherit(c)
	case p.base.Scheme == "file":
		p.reconsume(fileState)
	default:
		p.reconsume(relative)
	}
	return nil
}

// inherit copies path and query of the base URL, and switches to the query or fragment state if c starts either.
func (p *parser) inherit(c rune) {
	p.u.path, p.u.query = slices.Clone(p.base.path), p.base.query
	p.behindPath(c)
}

// behindPath switches to the query or fragment state if c starts either, and reports whether it does.
func (p *parser) behindPath(c rune) bool {
	switch c {
	case '?':
		p.u.query, p.state = new(string), queryState
	case '#':
		p.u.fragment, p.state = new(string), fragmentState
	default:
		return false
	}
	return true
}

func (p *parser) inheritAuthority() {
	b := p.base
	p.u.Username, p.u.Password, p.u.Host, p.u.HasHost, p.u.Port = b.Username, b.Password, b.Host, b.HasHost, b.Port
}

func (p *parser) relative(c rune) {
	p.u.Scheme = p.base.Scheme
	switch {
	case p.state == relative && p.slash(c):
		p.state = relativeSlash
	case p.state == relative:
		p.inheritAuthority()
		p.inherit(c)
		if c != eof && p.state == relative {
			p.u.query = nil
			p.u.shorten()
			p.reconsume(pathState)
		}
	case special(p.u.Scheme) && (c == '/' || c == '\\'):
		p.state = specialAuthorityIgnoreSlashes
	case c == '/':
		p.state = authority
	default:
		p.inheritAuthority()
		p.reconsume(pathState)
	}
}

func (p *parser) authority(c rune) error {
	switch {
	case c == '@':
		text := p.take()
		if p.sawAt {
			text = "%40" + text
		}
		p.sawAt = true
		for _, r := range text {
			switch {
			case r == ':' && !p.sawColon:
				p.sawColon = true
			case p.sawColon:
				p.u.Password += encode(string(r), userinfoSet)
			default:
				p.u.Username += encode(string(r), userinfoSet)
			}
		}
	case p.endsAuthority(c):
		host := []rune(p.take())
		if p.sawAt && len(host) == 0 {
			return fail("there is no host behind the @")
		}
		p.at -= len(host) + 1
		p.state = hostState
	default:
		p.buffer.WriteRune(c)
	}
	return nil
}

func (p *parser) host(c rune) error {
	switch {
	case p.only != noState && p.u.Scheme == "file":
		p.reconsume(fileHost)
		return nil
	case c == ':' && !p.inBrackets:
		if p.buffer.Len() == 0 {
			return fail("there is no host before the colon")
		}
		if p.only == hostnameState {
			return fail("a host name has no port")
		}
		p.state = portState
		return p.setHost(p.take())
	case p.endsAuthority(c):
		host := p.take()
		switch {
		case host == "" && special(p.u.Scheme):
			return fail("there is no host")
		case host == "" && p.only != noState && (p.u.hasCredentials() || p.u.Port != noPort):
			return errDone
		}
		if err := p.setHost(host); err != nil {
			return err
		}
		p.reconsume(pathStart)
		if p.only != noState {
			return errDone
		}
		return nil
	}
	switch c {
	case '[':
		p.inBrackets = true
	case ']':
		p.inBrackets = false
	}
	p.buffer.WriteRune(c)
	return nil
}

func (p *parser) setHost(text string) error {
	host, err := p.parseHost(text, !special(p.u.Scheme))
	if err == nil {
		p.u.Host, p.u.HasHost = host, true
	}
	return err
}

func (p *parser) port(c rune) error {
	if isDigit(c) {
		p.buffer.WriteRune(c)
		return nil
	}
	if !p.endsAuthority(c) && p.only == noState {
		return fail("a port is a number")
	}
	if text := p.take(); text != "" {
		port, err := strconv.Atoi(text)
		if err != nil || port > 65535 {
			if p.only != noState { // a host before the port is set nevertheless
				return errDone
			}
			return fail("the port %.20s is above 65535", text)
		}
		if own, yes := specialPorts.Get()[p.u.Scheme]; yes && own == port {
			port = noPort
		}
		p.u.Port = port
	}
	if p.only != noState {
		return errDone
	}
	p.reconsume(pathStart)
	return nil
}

func (p *parser) file(c rune) {
	first, based := p.state == fileState, p.base != nil && p.base.Scheme == "file"
	if first {
		p.u.Scheme, p.u.Host, p.u.HasHost = "file", "", true
	}
	switch {
	case c == '/' || c == '\\':
		p.state = fileHost
		if first {
			p.state = fileSlash
		}
	case first && based:
		p.u.Host = p.base.Host
		p.inherit(c)
		if c == eof || p.state != fileState {
			return
		}
		p.u.query = nil
		if p.driveAhead() {
			p.u.path = nil
		} else {
			p.u.shorten()
		}
		p.reconsume(pathState)
	default:
		if !first && based {
			p.u.Host = p.base.Host
			if !p.driveAhead() && len(p.base.path) > 0 && isDrive(p.base.path[0], ":") {
				p.u.path = append(p.u.path, p.base.path[0])
			}
		}
		p.reconsume(pathState)
	}
}

// isDrive reports whether s is a Windows drive letter: a letter followed by one of signs.
func isDrive(s, signs string) bool {
	return len(s) == 2 && isAlpha(rune(s[0])) && strings.IndexByte(signs, s[1]) >= 0
}

// driveAhead reports whether the remaining text starts with a Windows drive letter.
func (p *parser) driveAhead() bool {
	first, second, third := p.char(0), p.char(1), p.char(2)
	return isAlpha(first) && (second == ':' || second == '|') && (third == eof || strings.ContainsRune("/\\?#", third))
}

func (p *parser) fileHost(c rune) error {
	if c != eof && c != '/' && c != '\\' && c != '?' && c != '#' {
		p.buffer.WriteRune(c)
		return nil
	}
	if p.only == noState && isDrive(p.buffer.String(), ":|") {
		p.reconsume(pathState) // the buffer keeps the drive letter
		return nil
	}
	if err := p.setFileHost(p.take()); err != nil {
		return err
	}
	if p.only != noState {
		return errDone
	}
	p.reconsume(pathStart)
	return nil
}

func (p *parser) setFileHost(text string) error {
	if text == "" {
		p.u.Host = ""
		return nil
	}
	err := p.setHost(text)
	if p.u.Host == "localhost" {
		p.u.Host = ""
	}
	return err
}

func (p *parser) pathStart(c rune) {
	switch {
	case special(p.u.Scheme):
		p.state = pathState
		if !p.slash(c) {
			p.at--
		}
	case p.only == noState && p.behindPath(c):
	case c != eof:
		p.state = pathState
		if c != '/' {
			p.at--
		}
	case p.only != noState && !p.u.HasHost:
		p.u.path = append(p.u.path, "")
	}
}

func (p *parser) path(c rune) {
	ends := c == eof || p.slash(c) || p.only == noState && (c == '?' || c == '#')
	if !ends {
		p.buffer.WriteString(encode(string(c), pathSet))
		return
	}
	segment := p.take()
	switch dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); {
	case dots == "..":
		p.u.shorten()
		if !p.slash(c) {
			p.u.path = append(p.u.path, "")
		}
	case dots == ".":
		if !p.slash(c) {
			p.u.path = append(p.u.path, "")
		}
	default:
		if p.u.Scheme == "file" && len(p.u.path) == 0 && isDrive(segment, ":|") {
			segment = segment[:1] + ":"
		}
		p.u.path = append(p.u.path, segment)
	}
	if c != eof {
		p.behindPath(c)
	}
}

func (p *parser) opaque(c rune) {
	if c != eof && !p.behindPath(c) {
		p.u.path[0] += encode(string(c), controlSet)
	}
}

func (p *parser) query(c rune) {
	if c != eof && (c != '#' || p.only != noState) {
		p.buffer.WriteRune(c)
		return
	}
	set := querySet
	if special(p.u.Scheme) {
		set = specialQuerySet
	}
	text := *p.u.query + encode(p.take(), set)
	p.u.query = &text
	p.behindPath(c)
}
