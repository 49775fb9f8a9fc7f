package offloadjs_test

import (
	"strings"
	"testing"
)

// TestRegionTeams compares the teams and threads that OpenMP reports inside of regions with the bounds of the launch.
func TestRegionTeams(t *testing.T) {
	dir := buildRegions(t, `
#include <omp.h>
static void threads(int *out) {
  out[0] = omp_get_num_teams(); out[1] = omp_get_thread_limit();
#pragma omp parallel num_threads(8)
  if (omp_get_thread_num() == 0) out[2] = omp_get_num_threads();
#pragma omp parallel
  if (omp_get_thread_num() == 0) out[3] = omp_get_num_threads();
  out[4] = omp_get_num_procs();
}
#pragma omp declare target to(threads)
void league(int *out) {
#pragma omp target teams map(from: out[0:5])
  if (omp_get_team_num() == 0) threads(out);
}
void clauses(int *out) {
#pragma omp target teams num_teams(1) thread_limit(2) map(from: out[0:5])
  if (omp_get_team_num() == 0) threads(out);
}
void plain(int *out) {
#pragma omp target map(from: out[0:5])
  threads(out);
}
int main(void) { return 0; }
`)
	got := runNative(t, dir, `
		import { device, register, i32 } from 'offload'
		const lib = await register('regions'), out = device('cpu').buffer(i32, 5)
		const names = lib.kernels.map(name => name.replace(/^__omp_offloading_[0-9a-f]+_[0-9a-f]+_/, ''))
		const region = name => lib.kernel(names.find(k => k.startsWith(name + '_l')), { args: ['buffer'], convention: 'openmp' })
		const run = async (name, options) => { await region(name).launch(options, out); return [...await out.read()] }
		const check = (what, ok, seen) => { if (!ok) console.log('wrong:', what, ...seen) }
		const free = [await run('league', {}), await run('clauses', {}), await run('plain', {})], none = 2 ** 31 - 1
		check('default', free[0][0] === 1 && free[0][1] === none && free[1][1] === 2 && free[2][2] === 8, free)
		const again = async () => {
			const now = [await run('league', {}), await run('clauses', {}), await run('plain', {})]
			check('no trace of earlier bounds', JSON.stringify(now) === JSON.stringify(free), now)
		}
		for (const teams of [1, 2, 3, 1000]) {
			const seen = await run('league', { teams })
			check('teams ' + teams, seen[0] === Math.min(teams, seen[4]) && seen[1] === none, seen)
			check('clause wins over ' + teams, (await run('clauses', { teams }))[0] === 1, [])
			check('no league', (await run('plain', { teams }))[0] === 1, [])
			await again()
		}
		for (const threadLimit of [1, 2, 5, none]) {
			const seen = await run('plain', { threadLimit })
			check('limit ' + threadLimit, seen[1] === threadLimit && seen[2] === Math.min(threadLimit, 8) && seen[3] === Math.min(threadLimit, free[2][3]), seen)
			const team = await run('league', { teams: 1, threadLimit })
			check('limit of a team ' + threadLimit, team[0] === 1 && team[1] === threadLimit && team[2] <= threadLimit && team[3] <= threadLimit, team)
			const grouped = await run('plain', { threadLimit, groupSize: 3 })
			check('group size', grouped[2] === Math.min(threadLimit, 8) && grouped[3] === Math.min(threadLimit, 3), grouped)
			await again()
		}
		const k = region('plain')
		for (const wrong of [{ teams: 0 }, { teams: -1 }, { teams: 1.5 }, { threadLimit: 2 ** 31 }, { threadLimit: '2' }, { team: 2 }])
			try { await k.launch(wrong, out); console.log('accepted', JSON.stringify(wrong)) } catch (e) { console.log(e.code, e.message, '|', e.hint) }
		const other = lib.kernel(names.find(k => k.startsWith('plain')), { args: ['buffer'], convention: 'range' })
		try { await other.launch({ size: 1, teams: 2 }, out) } catch (e) { console.log(e.code, e.message, '|', e.hint) }
		console.log('done')
	`)
	for _, want := range []string{"invalid-argument", "teams is 0; it must be at least 1 | leave it out for the default", "threadLimit is 2147483648; it must be 1 to 2147483647",
		"did you mean teams?", "unsupported", "teams is for target regions of OpenMP, and this kernel is none", "done\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "wrong:") || strings.Contains(got, "accepted") {
		t.Error(got)
	}
}
