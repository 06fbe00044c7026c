import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OciRuntimeFinding } from '../oci-runtime/oci-runtimes.ts';
import { handlerFeatures } from './handler-features.ts';

const runtime = (name: string, recursiveReadonlyMounts: boolean, userNamespaces: boolean): OciRuntimeFinding => {
  const program = { name, path: `/bin/${name}` };
  return {
    ...program,
    version: '1',
    features: { recursiveReadonlyMounts, userNamespaces },
    works: true,
    program,
    wrapped: false,
  };
};
const ociRuntimes = [runtime('crun', true, true), runtime('runc', true, false)];
const oci = (program: string, sandbox = 'pinned') => ({ task: 'oci', program, sandbox });
const handlers = new Map([
  ['', oci('')],
  ['runc', oci('runc')],
  ['paused', oci('crun', 'pause')],
  ['foreign', oci('crun', 'shim')],
  ['kata', { task: 'shim-v2', program: 'kata', sandbox: 'shim' }],
]);
const names = (set: ReadonlySet<string>) => [...set];

const controllers = new Map([
  ['pinned', { makesUserNamespaces: true }],
  ['pause', { makesUserNamespaces: true }],
  ['shim', {}],
]);

test('a handler has the features of its OCI runtime; user namespaces also require support in its sandbox controller', () => {
  const idMapping = { works: true, reason: '' };
  const features = handlerFeatures(handlers, { ociRuntimes, idMapping }, controllers);
  assert.deepEqual(names(features.recursiveReadOnlyHandlers), ['', 'runc', 'paused', 'foreign']);
  assert.deepEqual(names(features.userNamespaceHandlers), ['', 'paused']);
});

test('without ID-mapped mounts no handler supports user namespaces', () => {
  const idMapping = { works: false, reason: 'old kernel' };
  assert.deepEqual(names(handlerFeatures(handlers, { ociRuntimes, idMapping }, controllers).userNamespaceHandlers), []);
});
