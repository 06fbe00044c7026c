import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OciRuntimeFinding } from '../oci-runtime/oci-runtimes.ts';
import { findingOf, handlerPrograms, ociPrograms, runtimeHandlers } from './runtime-handlers.ts';

function finding(name: string, works = true, path = `/usr/bin/${name}`): OciRuntimeFinding {
  const found = { name, path, version: '1', features: { recursiveReadonlyMounts: true, userNamespaces: true } };
  return works ? { ...found, works, program: { name, path }, wrapped: false } : { ...found, works, reason: 'broken' };
}

const both = [finding('crun'), finding('runc')];
const pinned = (program: string) => ({ task: 'oci', program, sandbox: 'pinned' });

test('without configuration each working OCI runtime is a handler with its own name', () => {
  assert.deepEqual(Object.fromEntries(runtimeHandlers({ ociRuntime: '' }, [finding('crun', false), finding('runc')])), {
    '': pinned(''),
    runc: pinned('runc'),
  });
});

test('an OCI runtime configured by path is the default, and a handler with its own name', () => {
  const findings = [...both, finding('youki', true, '/opt/youki')];
  const handlers = runtimeHandlers({ ociRuntime: '/opt/youki' }, findings);
  assert.deepEqual([...handlers.keys()], ['', 'crun', 'runc', 'youki']);
  assert.deepEqual(ociPrograms(handlers, findings)[''], { name: 'youki', path: '/opt/youki' });
});

test('configured handlers are added, override others with the same name, and default to their name as the program', () => {
  const handlers = {
    runc: { ...pinned('/opt/runc'), sandbox: 'pause' },
    youki: pinned(''),
    kata: { task: 'shim-v2', program: '', sandbox: 'shim' },
  };
  assert.deepEqual(handlerPrograms({ handlers, ociRuntime: '' }), ['/opt/runc', 'youki']);
  const ofHandlers = [finding('runc', true, '/opt/runc'), finding('youki')];
  const findings = [...both, ...ofHandlers.map((found) => ({ ...found, onlyForHandlers: true }))];
  const all = runtimeHandlers({ handlers, ociRuntime: '', defaultHandler: 'runc' }, findings);
  assert.deepEqual(Object.fromEntries(all), {
    '': { ...pinned('/opt/runc'), sandbox: 'pause' },
    crun: pinned('crun'),
    runc: { ...pinned('/opt/runc'), sandbox: 'pause' },
    youki: pinned('youki'),
    kata: { task: 'shim-v2', program: 'containerd-shim-kata-v2', sandbox: 'shim' },
  });
  assert.equal(findingOf(all.get('kata')!, findings), undefined);
  assert.equal(ociPrograms(all, findings).runc?.path, '/opt/runc');
});

test('an OCI runtime named only by handlers is neither the default nor a handler with its own name', () => {
  const handlers = { mine: pinned('/opt/runc'), youki: pinned('') };
  const ofHandlers = [finding('runc', true, '/opt/runc'), finding('youki')];
  const findings = [finding('crun', false), ...ofHandlers.map((found) => ({ ...found, onlyForHandlers: true }))];
  const all = runtimeHandlers({ handlers, ociRuntime: '' }, findings);
  assert.deepEqual([...all.keys()], ['', 'mine', 'youki']);
  assert.deepEqual(Object.keys(ociPrograms(all, findings)), ['mine', 'youki']);
});

test('the error for an unknown default handler lists the available ones', () => {
  const options = { ociRuntime: '', defaultHandler: 'kata' };
  assert.throws(() => runtimeHandlers(options, both), { code: 'invalid_argument', message: /"kata".*crun, runc/ });
});
