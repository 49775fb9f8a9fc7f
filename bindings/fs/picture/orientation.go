package picture

import "encoding/binary"

// Orientation returns the orientation that the Exif data of a JPEG file states, from 1 to 8. It is 1, upright, without one.
func Orientation(jpeg []byte) int {
	const startOfScan, exif = 0xda, 0xe1
	for at := 2; at+4 <= len(jpeg) && jpeg[at] == 0xff; {
		marker := jpeg[at+1]
		if marker == 0xff { // a fill byte
			at++
			continue
		}
		end := at + 2 + int(binary.BigEndian.Uint16(jpeg[at+2:]))
		if marker == startOfScan || end < at+4 || end > len(jpeg) {
			break
		}
		if body := jpeg[at+4 : end]; marker == exif && len(body) > 6 && string(body[:6]) == "Exif\x00\x00" {
			return fromTIFF(body[6:])
		}
		at = end
	}
	return 1
}

// fromTIFF returns the orientation in the first directory of a TIFF structure, or 1 if it has no valid one.
func fromTIFF(data []byte) int {
	if len(data) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(data[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return 1
	}
	n := int(order.Uint16(data[at:]))
	for entries := data[at+2:]; n > 0 && len(entries) >= 12; n, entries = n-1, entries[12:] {
		const orientation, short = 0x0112, 3
		if order.Uint16(entries) != orientation {
			continue
		}
		if v := int(order.Uint16(entries[8:])); order.Uint16(entries[2:]) == short && v >= 1 && v <= 8 {
			return v
		}
		return 1
	}
	return 1
}

// Upright returns the pixels of a picture that was stored with an orientation, turned and mirrored so that it stands upright.
func (p Pixels) Upright(orientation int) Pixels {
	if orientation < 2 || orientation > 8 {
		return p
	}
	out := p
	if orientation >= 5 { // rows are columns
		out.Width, out.Height = p.Height, p.Width
	}
	out.Data = make([]byte, 0, len(p.Data))
	for y := range out.Height {
		for x := range out.Width {
			u, v := x, y // in the stored picture
			switch orientation {
			case 2:
				u = p.Width - 1 - x
			case 3:
				u, v = p.Width-1-x, p.Height-1-y
			case 4:
				v = p.Height - 1 - y
			case 5:
				u, v = y, x
			case 6:
				u, v = y, p.Height-1-x
			case 7:
				u, v = p.Width-1-y, p.Height-1-x
			case 8:
				u, v = p.Width-1-y, x
			}
			at := (v*p.Width + u) * p.Channels
			out.Data = append(out.Data, p.Data[at:at+p.Channels]...)
		}
	}
	return out
}
