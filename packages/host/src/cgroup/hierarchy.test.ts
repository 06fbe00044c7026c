import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { cgroupDirectory, parseCgroupHierarchy, treeOf } from './hierarchy.ts';

const mount = (point: string, type: string, options: string) =>
  `31 23 0:28 / ${point} rw,relatime shared:9 - ${type} ${type} ${options}`;
const root = '22 1 8:1 / / rw - ext4 /dev/sda1 rw';

test('a v2-only host has one tree', () => {
  const hierarchy = parseCgroupHierarchy({
    mountinfo: [root, mount('/sys/fs/cgroup', 'cgroup2', 'rw,nsdelegate')].join('\n'),
    selfCgroup: '0::/user.slice\n',
    unifiedControllers: 'cpuset cpu io memory pids\n',
  });
  assert.deepEqual(hierarchy, {
    mode: 'v2',
    trees: [{ version: 2, mountPoint: '/sys/fs/cgroup', controllers: ['cpuset', 'cpu', 'io', 'memory', 'pids'] }],
  });
});

test('a v1-only host has one tree per mount, with one or several controllers or just a name', () => {
  const hierarchy = parseCgroupHierarchy({
    mountinfo: [
      root,
      mount('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
      mount('/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
      mount('/sys/fs/cgroup/systemd', 'cgroup', 'rw,xattr,release_agent=/x,name=systemd'),
      mount('/mnt/again', 'cgroup', 'rw,memory'),
    ].join('\n'),
    selfCgroup: '4:cpu,cpuacct:/a\n3:memory:/\n1:name=systemd:/\n',
    unifiedControllers: '',
  });
  assert.equal(hierarchy.mode, 'v1');
  assert.deepEqual(
    hierarchy.trees.map((tree) => [tree.mountPoint, tree.controllers]),
    [
      ['/sys/fs/cgroup/cpu,cpuacct', ['cpu', 'cpuacct']],
      ['/sys/fs/cgroup/memory', ['memory']],
      ['/sys/fs/cgroup/systemd', ['name=systemd']],
    ],
  );
});

test('on a hybrid host, each controller is found in its own tree, v1 or v2', () => {
  const hierarchy = parseCgroupHierarchy({
    mountinfo: [
      mount('/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
      mount('/sys/fs/cgroup/my\\040tree', 'cgroup2', 'rw'),
    ].join('\n'),
    selfCgroup: '4:memory:/x\n0::/\n',
    unifiedControllers: 'hugetlb\n',
  });
  assert.equal(hierarchy.mode, 'hybrid');
  assert.equal(treeOf(hierarchy, 'memory')?.version, 1);
  assert.equal(treeOf(hierarchy, 'hugetlb')?.mountPoint, '/sys/fs/cgroup/my tree');
  assert.equal(treeOf(hierarchy, 'cpu'), undefined);
});

test('paths that could leave the tree are rejected', () => {
  const tree = { version: 2 as const, mountPoint: '/sys/fs/cgroup', controllers: [] };
  assert.equal(cgroupDirectory(tree, '/a/b'), '/sys/fs/cgroup/a/b');
  for (const path of ['', 'a', '/a/../b', '/../x', '//a', '/a/./b', '/a\0'])
    assert.throws(
      () => cgroupDirectory(tree, path),
      (error) => errorCode(error) === 'invalid_argument',
      path,
    );
});
