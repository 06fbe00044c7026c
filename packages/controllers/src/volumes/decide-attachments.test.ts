import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentName, type Node, type Pod, uniqueVolumeName } from '@podwright/kube-api';
import type { Attachment, Claim, Volume } from '../objects/storage.ts';
import { type AttachmentState, planAttachments, volumesAttached } from './decide-attachments.ts';

const DISK = { driver: 'disk.example.com', handle: 'h1' };
const MANAGED = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };

const node = (name: string, status: Node['status'] = {}, more: object = {}): Node =>
  ({ metadata: { name, annotations: MANAGED }, status, ...more }) as Node;

const pod = (name: string, nodeName: string, status: object = {}, metadata: object = {}): Pod =>
  ({
    metadata: { namespace: 'shop', name, uid: name, ...metadata },
    spec: { nodeName, containers: [], volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
    status,
  }) as unknown as Pod;

const attachment = (nodeName: string, attached = true, metadata: object = {}): Attachment => ({
  metadata: { name: attachmentName(DISK, nodeName), ...metadata },
  spec: { attacher: DISK.driver, nodeName, source: { persistentVolumeName: 'pv' } },
  status: { attached },
});

const claim: Claim = { metadata: { namespace: 'shop', name: 'data', uid: 'c' }, spec: { volumeName: 'pv' } };

function volume(accessModes: string[] = ['ReadWriteOnce']): Volume {
  const csi = { driver: DISK.driver, volumeHandle: DISK.handle };
  return { metadata: { name: 'pv' }, spec: { csi, accessModes, claimRef: { uid: 'c' } } };
}

function stateOf(given: Partial<AttachmentState>): AttachmentState {
  return {
    ...{ pods: [], nodes: [node('n')], attachments: [], isAttachable: () => true, unneededMs: () => 0 },
    claim: (namespace, name) => (namespace === 'shop' && name === 'data' ? claim : undefined),
    volume: (name) => (name === 'pv' ? volume() : undefined),
    ...given,
  };
}

/** Asserts where a volume is attached (`+NODE`) and detached (`-NODE`), and where it is blocked because another node has it (`!NODE`). */
function check(given: Partial<AttachmentState>, expected: string[]): void {
  const { attach, detach, blocked } = planAttachments(stateOf(given));
  const found = [
    ...attach.map(({ needed }) => `+${needed.node}`),
    ...detach.map(({ spec }) => `-${spec.nodeName}`),
    ...blocked.map(({ needed, pods }) => `!${needed.node} ${pods.map(({ metadata }) => metadata.name)}`),
  ];
  assert.deepEqual(found, expected);
}

test('the volume of a scheduled pod is attached to its node once', () => {
  check({ pods: [pod('a', 'n'), pod('b', 'n')] }, ['+n']);
  check({ pods: [pod('a', 'n')], attachments: [attachment('n', false)] }, []);
  check({ pods: [pod('a', '')] }, []);
  check({ pods: [pod('a', 'n')], nodes: [{ metadata: { name: 'n' } } as Node] }, []);
  check({ pods: [pod('a', 'n')], isAttachable: () => false }, []);
  check(
    { pods: [pod('a', 'n')], volume: () => ({ ...volume(), spec: { ...volume().spec, claimRef: { uid: 'x' } } }) },
    [],
  );
});

test('a volume no pod needs is detached once the kubelet no longer uses it', () => {
  const inUse = node('n', { volumesInUse: [uniqueVolumeName(DISK)] });
  const attachments = [attachment('n')];
  check({ attachments }, ['-n']);
  check({ attachments, nodes: [inUse] }, []);
  check({ attachments, pods: [pod('a', 'n', { phase: 'Succeeded' })] }, ['-n']);
  const ending = pod('a', 'n', { containerStatuses: [{ state: { running: {} } }] }, { deletionTimestamp: 't' });
  check({ attachments, pods: [ending] }, []);
  check({ attachments: [attachment('n', true, { deletionTimestamp: 't' })] }, []);
  check({ attachments: [attachment('n', true, { name: 'by-hand' })] }, []);
});

test('a volume in use is force-detached only from a removed or lost node', () => {
  const lost = node('n', {
    volumesInUse: [uniqueVolumeName(DISK)],
    conditions: [{ type: 'Ready', status: 'Unknown' }],
  });
  const attachments = [attachment('n')];
  check({ attachments, nodes: [] }, ['-n']);
  check({ attachments, nodes: [lost], unneededMs: () => 359_000 }, []);
  check({ attachments, nodes: [lost], unneededMs: () => 361_000 }, ['-n']);
  const ready = node('n', { ...lost.status, conditions: [{ type: 'Ready', status: 'True' }] });
  check({ attachments, nodes: [ready], unneededMs: () => 361_000 }, []);
  const taints = [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }];
  check({ attachments, nodes: [node('n', lost.status, { spec: { taints } })] }, ['-n']);
});

test('a single-node volume waits until it is detached from another node', () => {
  const nodes = [node('n'), node('m')];
  const attachments = [attachment('m')];
  const pods = [pod('a', 'n'), pod('b', 'm')];
  check({ nodes, attachments, pods }, ['!n b']);
  check({ nodes, attachments: [], pods: [pod('a', 'n')] }, ['+n']);
  check({ nodes, attachments, pods, volume: () => volume(['ReadWriteMany']) }, ['+n']);
});

test('a node’s status lists volumes that are attached and not about to be detached', () => {
  const attached = (given: Partial<AttachmentState>) => {
    const state = stateOf(given);
    return volumesAttached('n', planAttachments(state), state);
  };
  const pods = [pod('a', 'n')];
  assert.deepEqual(attached({ pods, attachments: [attachment('n')] }), ['kubernetes.io/csi/disk.example.com^h1']);
  assert.deepEqual(attached({ pods, attachments: [attachment('n', false)] }), []);
  assert.deepEqual(attached({ pods: [], attachments: [attachment('n')] }), [], 'it is about to be detached');
  const nodes = [node('n', { volumesInUse: [uniqueVolumeName(DISK)] })];
  assert.equal(attached({ nodes, attachments: [attachment('n')] }).length, 1);
});
