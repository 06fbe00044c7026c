import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { CsiDriver, Pod, SeLinuxOptions } from '@podwright/kube-api';
import type { CsiVolume } from './csi-volume.ts';
import { labelsFor, mountLabel, type SeLinuxHost, seLinuxHost } from './selinux-label.ts';
import { volumeCapability } from './volume-capability.ts';

const HOST: SeLinuxHost = { fileLabel: ({ level }) => level && `system_u:object_r:container_file_t:${level}` };
const LABEL = 'system_u:object_r:container_file_t:s0:c1,c2';
const POD = {
  spec: {
    securityContext: { seLinuxOptions: { level: 's0:c1,c2' } },
    containers: [{ volumeMounts: [{ name: 'data' }] }, { securityContext: { seLinuxOptions: { level: 's0:c3' } } }],
  },
} as unknown as Pod;

type Case = {
  pod?: Pod;
  modes?: string[];
  seLinuxMount?: boolean;
  host?: SeLinuxHost | undefined;
  labels?: SeLinuxOptions[];
};
function label({ pod = POD, modes = ['ReadWriteOncePod'], seLinuxMount = true, ...rest }: Case) {
  const volume = { accessModes: modes, labels: rest.labels ?? labelsFor(pod, 'data') } as unknown as CsiVolume;
  const driver = { metadata: { name: 'd' }, spec: { seLinuxMount } } as CsiDriver;
  return mountLabel(volume, { pod, driver, host: 'host' in rest ? rest.host : HOST });
}

test('a ReadWriteOncePod volume is mounted with the label of its containers', () => {
  assert.equal(label({}), LABEL);
  assert.equal(label({ host: undefined }), undefined, 'a host without SELinux');
  assert.equal(label({ seLinuxMount: false }), undefined, 'a driver without support');
  assert.equal(label({ modes: ['ReadWriteOnce'] }), undefined);
  assert.equal(label({ modes: ['ReadWriteOncePod', 'ReadWriteOnce'] }), undefined);
  assert.equal(label({ labels: [{ type: 'spc_t' }] }), undefined, 'the label is undetermined');
  const recursive = { spec: { ...POD.spec, securityContext: { seLinuxChangePolicy: 'Recursive' } } } as unknown as Pod;
  assert.equal(label({ pod: recursive, labels: [{ level: 's0' }] }), undefined);
  assert.throws(
    () => label({ labels: [{ level: 's0:c1' }, { level: 's0:c2' }] }),
    /multiple SELinux labels found: .*,/,
  );
});

test('the driver receives the label as a quoted mount option', () => {
  const volume = { accessModes: [], mountOptions: ['noatime'], fsType: 'ext4', label: LABEL } as unknown as CsiVolume;
  const capabilities = { stage: true, volumeStats: false, mountGroup: false, expand: false, multiWriter: false };
  const { value } = volumeCapability(volume, capabilities, undefined).accessType;
  assert.deepEqual(value, { fsType: 'ext4', mountFlags: ['noatime', `context="${LABEL}"`], volumeMountGroup: '' });
});

test('the label for container files comes from the host’s policy', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'podwright-selinux-'));
  context.after(() => rmSync(root, { recursive: true }));
  assert.equal(seLinuxHost(root), undefined);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  put('sys/fs/selinux/enforce', '1');
  assert.equal(seLinuxHost(root)!.fileLabel({ level: 's0' }), undefined, 'a host without a policy for containers');
  put('etc/selinux/config', '# no\nSELINUX=enforcing\nSELINUXTYPE=mls-own\n');
  put(
    'etc/selinux/mls-own/contexts/lxc_contexts',
    'process = "system_u:system_r:container_t:s0"\nfile = "system_u:object_r:container_file_t:s0"\n',
  );
  const host = seLinuxHost(root)!;
  assert.equal(host.fileLabel({ level: 's0:c1,c2', type: 'container_t', role: 'r' }), LABEL);
  assert.equal(host.fileLabel({ level: 's0', user: 'me' }), 'me:object_r:container_file_t:s0');
  assert.equal(host.fileLabel({ type: 'container_t' }), undefined);
  put('usr/share/containers/selinux/contexts', 'file = "system_u:object_r:shared_file_t:s0"\n');
  assert.equal(seLinuxHost(root)!.fileLabel({ level: 's0' }), 'system_u:object_r:shared_file_t:s0');
});
