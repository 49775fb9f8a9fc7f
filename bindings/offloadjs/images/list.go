package images

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/runtime/image"
	"github.com/orepl/orepl/runtime/registry"
)

// statuses returns how each image of a library fits the devices that the policy allows.
func (m *Module) statuses(l *Library) []registry.ImageStatus {
	list := slices.Clone(l.Images())
	for i := range list {
		list[i].Devices = slices.DeleteFunc(slices.Clone(list[i].Devices), func(fit registry.ImageFit) bool { return !m.reach.Permits(fit.Device) })
	}
	return list
}

// imagesOf implements library.images, which returns each image with the decision of every permitted device. It opens all plugins that
// the policy allows.
func (m *Module) imagesOf(l *Library) (goja.Value, error) {
	m.reach.Devices(m.Engine.Running())
	var list []any
	for _, s := range m.statuses(l) {
		var chosen, decisions []any
		for i := range s.Devices {
			fit := &s.Devices[i]
			if fit.Chosen {
				chosen = append(chosen, fit.Device)
			}
			d := m.VM.NewObject()
			_ = d.Set("device", fit.Device) // cannot fail on a new plain object
			_ = d.Set("decision", fit.Decision())
			_ = d.Set("score", fit.Score)
			_ = d.Set("reason", ReasonOf(fit))
			decisions = append(decisions, d)
		}
		o := m.VM.NewObject()
		_ = o.Set("kind", string(s.Image.Kind))
		_ = o.Set("target", s.Image.Target)
		_ = o.Set("arch", s.Image.Arch)
		_ = o.Set("label", s.Image.Label)
		_ = o.Set("producer", s.Image.Producers)
		_ = o.Set("size", len(s.Image.Data))
		_ = o.Set("conflict", s.Image.Conflict)
		_ = o.Set("devices", m.VM.NewArray(chosen...))
		_ = o.Set("decisions", m.VM.NewArray(decisions...))
		list = append(list, o)
	}
	return m.VM.NewArray(list...), nil
}

// ReasonOf returns a device's reason to reject an image, on one line, or "".
func ReasonOf(fit *registry.ImageFit) string {
	if fit.Err == nil {
		return ""
	}
	if hint := diag.Hint(fit.Err); hint != "" {
		return fit.Err.Error() + "; " + hint
	}
	return fit.Err.Error()
}

// entriesOf implements library.entries, the host program's offload entry table.
func (m *Module) entriesOf(l *Library) (goja.Value, error) {
	var list []any
	for _, e := range l.Entries() {
		o := m.VM.NewObject()
		_ = o.Set("name", e.Name) // cannot fail on a new plain object
		_ = o.Set("kind", e.Kind.String())
		_ = o.Set("size", e.Size)
		_ = o.Set("flags", e.Flags)
		list = append(list, o)
	}
	return m.VM.NewArray(list...), nil
}

// inspectLibrary formats a library: a line per image, and below it a line with the decision of each opened and permitted device.
func (m *Module) inspectLibrary(l *Library) string {
	images := m.statuses(l)
	var b strings.Builder
	fmt.Fprintf(&b, "Library %q of %s", l.Label(), spelling.Count(len(images), "image"))
	if n := len(l.Entries()); n > 0 {
		fmt.Fprintf(&b, ", %d in the table of entries", n)
	}
	for _, s := range images {
		fmt.Fprintf(&b, "\n  %s: %s for %s", s.Image.Label, s.Image.Kind, image.Name(s.Image))
		for i := range s.Devices {
			fit := &s.Devices[i]
			fmt.Fprintf(&b, "\n    %s: %s", fit.Device, fit.Decision())
			if reason := ReasonOf(fit); reason != "" {
				fmt.Fprintf(&b, ": %s", reason)
			}
		}
	}
	return b.String()
}
