# Random PNG files of every colour type and depth, and what they contain: "write N SEED" makes them and the pixels that
# Pillow reads, "check N" compares the pictures that scripts wrote. "turned" makes JPEG files of all orientations.
import json, random, struct, sys, zlib
from PIL import Image, ImageOps

TYPES = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)]
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

def packed(values, depth):
    if depth == 16: return b''.join(struct.pack('>H', v) for v in values)
    out, bits, n = bytearray(), 0, 0
    for v in values:
        bits, n = bits << depth | v, n + depth
        if n == 8: out.append(bits); bits, n = 0, 0
    if n: out.append(bits << 8 - n)
    return bytes(out)

def filtered(rows, size, r):
    before, out = bytes(len(rows[0])), b''
    for row in rows:
        kind, line = r.randrange(5), bytearray()
        for i, x in enumerate(row):
            a = row[i - size] if i >= size else 0
            b, c = before[i], before[i - size] if i >= size else 0
            p = a + b - c
            paeth = min([a, b, c], key=lambda v: abs(p - v))
            line.append((x - [0, a, b, (a + b) // 2, paeth][kind]) & 255)
        out, before = out + bytes([kind]) + bytes(line), row
    return out

def png(name, w, h, kind, depth, interlaced, pixels, extra, r):
    size = max(1, SAMPLES[kind] * depth // 8)
    passes = [(0, 0, 1, 1)]
    if interlaced: passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = b''
    for x0, y0, dx, dy in passes:
        rows = [packed([v for x in range(x0, w, dx) for v in pixels[y][x]], depth) for y in range(y0, h, dy)] if x0 < w else []
        if rows: raw += filtered(rows, size, r)
    data = zlib.compress(raw)
    cut = r.randrange(len(data) + 1)
    with open(name, 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, depth, kind, 0, 0, int(interlaced))) + extra +
                chunk(b'IDAT', data[:cut]) + chunk(b'IDAT', data[cut:]) + chunk(b'IEND', b''))

def write(n, seed):
    r = random.Random(seed)
    described = []
    for i in range(n):
        kind, depth = TYPES[i % len(TYPES)]
        w, h = r.choice([1, 2, 3, 5, 7, 8, 9, 17, 33]), r.choice([1, 2, 3, 5, 8, 9])
        most, samples = (1 << depth) - 1, SAMPLES[kind]
        palette = [tuple(r.randrange(256) for _ in range(3)) for _ in range(r.randrange(1, min(256, most + 1) + 1))] if kind == 3 else []
        top = len(palette) - 1 if kind == 3 else most
        few = [tuple(r.randrange(top + 1) for _ in range(samples)) for _ in range(3)]
        pixels = [[r.choice(few) if r.random() < 0.5 else tuple(r.choice([0, top, r.randrange(top + 1)]) for _ in range(samples)) for _ in range(w)] for _ in range(h)]
        extra, alphas, clear = b'', [], None
        if kind == 3:
            extra = chunk(b'PLTE', b''.join(bytes(c) for c in palette))
            if r.random() < 0.7:
                alphas = [r.choice([0, 1, 254, 255, r.randrange(256)]) for _ in range(r.randrange(1, len(palette) + 1))]
                extra += chunk(b'tRNS', bytes(alphas))
        elif kind in (0, 2) and r.random() < 0.5:
            clear = few[0]
            extra = chunk(b'tRNS', b''.join(struct.pack('>H', v) for v in clear))
        name = f'{i}.png'
        png(name, w, h, kind, depth, r.random() < 0.5, pixels, extra, r)
        scale = lambda v: v >> 8 if depth == 16 else v * 255 // most
        def colour(p):
            if kind == 3: return palette[p[0]] + ((alphas + [255] * 256)[p[0]],)
            s = [scale(v) for v in p]
            if kind in (0, 4): s = s[:1] * 3 + s[1:]
            return tuple(s) if len(s) == 4 else tuple(s) + (0 if p == clear else 255,)
        want = [colour(p) for row in pixels for p in row]
        image = Image.open(name)
        # Pillow keeps gray of 16 bits, and compares a transparent colour with samples scaled to 8 bits.
        if not (depth == 16 and kind == 0) and not (depth != 8 and clear):
            assert list(image.convert('RGBA').getdata()) == want, (i, kind, depth)
        gray = kind == 0 and not clear
        described.append({'width': w, 'height': h, 'channels': 1 if gray else 4, 'data': [c for p in want for c in (p[:1] if gray else p)]})
    json.dump(described, open('pictures.json', 'w'))

def check(n):
    for i, d in enumerate(json.load(open('pictures.json'))[:n]):
        image = Image.open(f'{i}.out.png')
        got = image.convert('L' if d['channels'] == 1 else 'RGBA').getdata()
        assert image.size == (d['width'], d['height']) and [c for p in got for c in (p if isinstance(p, tuple) else (p,))] == d['data'], i

def turned():
    colours = [(r, g, b) for r in (20, 200) for g in (30, 220) for b in (60, 180)]
    image = Image.new('RGB', (64, 32))
    for i in range(8): image.paste(colours[i], (i % 4 * 16, i // 4 * 16, i % 4 * 16 + 16, i // 4 * 16 + 16))
    described = []
    for o in range(0, 10):
        for order in ('MM', 'II'):
            tiff = (b'MM\0*' if order == 'MM' else b'II*\0') + struct.pack('>IHHHIHHI' if order == 'MM' else '<IHHHIHHI', 8, 1, 0x112, 3, 1, o, 0, 0)
            image.save(f'{o}{order}.jpg', quality=95, subsampling=0, exif=b'Exif\0\0' + tiff)
            upright = ImageOps.exif_transpose(Image.open(f'{o}{order}.jpg')) if 1 <= o <= 8 else image
            w, h = upright.size
            described.append({'name': f'{o}{order}.jpg', 'width': w, 'height': h, 'centres': [list(upright.convert('RGB').getpixel((x, y))) for y in range(8, h, 16) for x in range(8, w, 16)]})
    json.dump(described, open('turned.json', 'w'))

if sys.argv[1] == 'write': write(int(sys.argv[2]), int(sys.argv[3]))
elif sys.argv[1] == 'check': check(int(sys.argv[2]))
else: turned()
