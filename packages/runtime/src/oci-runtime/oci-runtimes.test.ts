import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCode } from '@podwright/base';
import { chooseOciRuntime, type OciRuntimeFinding } from './oci-runtimes.ts';

const features = { recursiveReadonlyMounts: false, userNamespaces: false };
const works = (name: string): OciRuntimeFinding => {
  const path = `/bin/${name}`;
  return { name, path, version: '1', features, works: true, program: { name, path }, wrapped: false };
};
const fails = (name: string, reason: string): OciRuntimeFinding => ({
  name,
  path: `/bin/${name}`,
  version: '1',
  features,
  works: false,
  reason,
});

test('the first working runtime is used, unless one is configured', () => {
  const check = (findings: OciRuntimeFinding[], requested: string, name: string) =>
    assert.equal(chooseOciRuntime(findings, requested).name, name);
  check([works('crun'), works('runc')], '', 'crun');
  check([fails('crun', 'no'), works('runc')], '', 'runc');
  check([works('crun'), works('runc')], 'runc', 'runc');
  check([works('crun'), works('runc')], '/bin/runc', 'runc');
  check([{ ...works('youki'), onlyForHandlers: true }], 'youki', 'youki');
});

test('if no runtime works, the error has the message of each, or the package to install', () => {
  const check = (findings: OciRuntimeFinding[], requested: string, message: RegExp) =>
    assert.throws(
      () => chooseOciRuntime(findings, requested),
      (error) => errorCode(error) === 'failed_precondition' && message.test(String(error)),
    );
  check([fails('crun', 'hybrid'), fails('runc', 'too old')], '', /crun: hybrid; runc: too old/);
  check([works('runc'), fails('crun', 'hybrid')], 'crun', /crun: hybrid/);
  const ofHandler = { ...works('youki'), onlyForHandlers: true };
  check([fails('crun', 'hybrid'), ofHandler], '', /none works here \(crun: hybrid\)$/);
  check([ofHandler], '', /neither crun nor runc is installed/);
  check([works('runc')], 'youki', /youki is not installed; install the package youki$/);
  check([], '', /: neither crun nor runc is installed; install the package crun$/);
});
