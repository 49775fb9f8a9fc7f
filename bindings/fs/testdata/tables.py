# Random tables by Python's csv module: "write N SEED" makes files and a description, "check N" reads what scripts wrote.
import csv, json, random, sys

LETTERS = ['a', 'b', '0', '7', ' ', '  ', ',', ';', '\t', '|', '"', '""', "'", '\n', '\r', '\r\n', 'é', '漢', '😀', '\u2028', '\ufeff',
           'NA', 'NaN', '-', '.', 'e5', '#', '\\', '=']

def text(r):
    return ''.join(r.choice(LETTERS) for _ in range(r.choice([0, 1, 1, 2, 3, 8])))

def number(r):
    k = r.randrange(6)
    if k == 0: return repr(r.random())
    if k == 1: return repr(r.uniform(-1e300, 1e300))
    if k == 2: return str(r.randrange(-10**6, 10**6))
    if k == 3: return repr(float('%.20e' % r.random()) * 10.0 ** r.randrange(-320, 300))
    if k == 4: return r.choice(['inf', '-inf', '', '1e400', '-0.0', '5e-324', '1e-400'])
    return '%.30f' % r.random()

def write(n, seed):
    r = random.Random(seed)
    tables = []
    for i in range(n):
        columns, rows = r.choice([1, 1, 2, 3, 7]), r.choice([0, 1, 2, 5, 20])
        kinds = [r.choice(['string', 'string', 'f64', 'i64', 'u64']) for _ in range(columns)]
        names = []
        while len(names) < columns:
            name = text(r)
            if name.isdecimal(): name += 'x' # scripts order such properties first
            if name not in names and not (not names and name.startswith('\ufeff')): names.append(name)
        fields = {'string': text, 'f64': number, 'i64': lambda r: str(r.randrange(-2**63, 2**63)), 'u64': lambda r: str(r.randrange(2**64))}
        data = [[fields[k](r) for k in kinds] for _ in range(rows)]
        separator = r.choice([',', ',', ';', '\t', '|', '§', ' '])
        encoding, end = 'utf-8-sig' if r.random() < 0.2 else 'utf-8', r.choice(['\r\n', '\n', '\r'])
        for quoting in [r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]), csv.QUOTE_ALL]:
            with open(f'{i}.csv', 'w', newline='', encoding=encoding) as f:
                w = csv.writer(f, delimiter=separator, lineterminator=end, quoting=quoting)
                w.writerow(names)
                w.writerows(data)
            with open(f'{i}.csv', newline='', encoding='utf-8-sig') as f:
                if list(csv.reader(f, delimiter=separator)) == [names] + data: break # the writer leaves some line ends bare
        # numbers as the bits of a float, or as integers
        wanted = [[str(float(x or 'nan')) if k == 'f64' else x for x, k in zip(row, kinds)] for row in data]
        tables.append({'names': names, 'kinds': kinds, 'separator': separator, 'rows': wanted})
    json.dump(tables, open('tables.json', 'w'))

def same(kind, want, got):
    if kind == 'f64':
        want, got = float(want), float(got or 'nan')
        return want == got and str(want) == str(got) or want != want and got != got
    return want == got

def check(n):
    tables = json.load(open('tables.json'))
    for i in range(n):
        t = tables[i]
        with open(f'{i}.out.csv', newline='', encoding='utf-8') as f:
            got = list(csv.reader(f, delimiter=t['separator'], strict=True))
        want = [t['names']] + t['rows']
        assert len(got) == len(want) and got[0] == want[0], (i, got, want)
        for g, w in zip(got[1:], want[1:]):
            assert len(g) == len(w) and all(map(same, t['kinds'], w, g)), (i, g, w)

csv.field_size_limit(1 << 24)
if sys.argv[1] == 'write': write(int(sys.argv[2]), int(sys.argv[3]))
else: check(int(sys.argv[2]))
