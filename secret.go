package orepl

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/orepl/orepl/bindings/config"
)

// Secret is a text that prints, logs, JSON and errors show as "(secret)", such as a password among the settings of [Load]. All sources
// can set it: it is read from texts. The zero value is the empty text. Scripts cannot receive it, only what Reveal returns.
type Secret struct{ text *string } // a pointer, which is all that prints of unexported fields show

// NewSecret returns a text as a secret, such as the default of a setting.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal returns the text, or "" for the zero Secret.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// String returns "(secret)".
func (s Secret) String() string { return config.Hidden }

// Format prints "(secret)" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, config.Hidden) }

// MarshalText returns "(secret)", also for JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(config.Hidden), nil }

// UnmarshalText sets the text. It refuses "(secret)", since that is printed in place of a secret.
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == config.Hidden {
		return errors.New("the text " + config.Hidden + " stands for a secret and is none")
	}
	*s = NewSecret(string(text))
	return nil
}

// LogValue returns "(secret)" for logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(config.Hidden) }
