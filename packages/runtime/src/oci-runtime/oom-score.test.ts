import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { type OciRuntime, SHELL, withOomScore } from './oci-program.ts';

test('the runtime is started with oom_score_adj, through an extra shell only if no shell wraps it yet', () => {
  const check = (runtime: Omit<OciRuntime, 'root'>, expected: string, shells: number) => {
    const { path, args = [] } = withOomScore({ ...runtime, root: '/r' }, 1000);
    assert.equal([path, ...args].filter((word) => word === SHELL).length, shells);
    assert.equal(
      execFileSync(path, [...args, '/proc/self/oom_score_adj', '/dev/null'], { encoding: 'utf8' }),
      expected,
    );
  };
  const shell = [SHELL, '-c', 'cd / && exec "$0" "$@"', 'cat'];
  const own = execFileSync('cat', ['/proc/self/oom_score_adj'], { encoding: 'utf8' });
  check({ name: 'crun', path: 'cat' }, '1000\n', 1);
  check({ name: 'crun', path: 'env', args: ['A=b', 'cat'] }, '1000\n', 1);
  check({ name: 'crun', path: 'env', args: ['A=b', ...shell] }, '1000\n', 1);
  check({ name: 'runc', path: 'cat' }, own, 0);
});
