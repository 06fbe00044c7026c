import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupPathIn, containerCgroup } from './cgroup-path.ts';

test("a container's cgroup is found on v1, hybrid and v2 hosts", () => {
  const check = (lines: string[], expected: string | undefined) => {
    const path = cgroupPathIn(`${lines.join('\n')}\n`);
    assert.equal(path && containerCgroup(path, 'cafe'), expected, lines.join());
  };
  check(['0::/system.slice/docker-cafe.scope'], '/system.slice/docker-cafe.scope');
  check(['0::/docker/cafe/init'], '/docker/cafe');
  check(['3:cpu,cpuacct:/pods/cafe', '2:memory:/docker/cafe', '0::/'], '/docker/cafe');
  check(['3:cpu,cpuacct:/pods/cafe', '0::/'], '/pods/cafe');
  check(['2:memory:/docker/other'], undefined);
  check([''], undefined);
});
