import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SandboxConfig } from '../records/sandbox-record.ts';
import type { SandboxController } from './sandbox-controller.ts';
import { SandboxControllers } from './sandbox-controllers.ts';

const named = (name: string) => ({ name }) as SandboxController;
const controllers = [named('pinned'), named('pause')];
const handlers = new Map([
  ['', 'pinned'],
  ['vm', 'pause'],
]);
const made = (runtimeHandler: string, controller?: string) => ({
  id: 'x',
  controller,
  config: { runtimeHandler } as SandboxConfig,
});

test('a handler selects its controller; an unknown one is rejected with a list of the known ones', () => {
  const found = new SandboxControllers({ controllers, handlers, unavailable: new Map([['fast', 'no such program']]) });
  assert.equal(found.forHandler('').name, 'pinned');
  assert.equal(found.forHandler('vm').name, 'pause');
  assert.throws(() => found.forHandler('slow'), {
    code: 'invalid_argument',
    message: /"slow".*"" \(the default\), vm/,
  });
  assert.throws(() => found.forHandler('fast'), { code: 'failed_precondition', message: /no such program/ });
  assert.throws(() => new SandboxControllers({ controllers, handlers: new Map([['', 'none']]) }), {
    code: 'invalid_argument',
    message: /"none".*pinned, pause/,
  });
});

test('a sandbox is removed by the controller that created it, regardless of its handler’s current one', () => {
  const found = new SandboxControllers({ controllers, handlers });
  assert.equal(found.of(made('', 'pause')).name, 'pause');
  assert.equal(found.of(made('gone', 'pause')).name, 'pause');
  assert.equal(found.find(made('vm', 'other')), undefined);
  assert.throws(() => found.of(made('vm', 'other')), { code: 'failed_precondition', message: /"other" created it/ });
});

test('a sandbox without a recorded controller belongs to the controller of its handler, or to the default one', () => {
  const found = new SandboxControllers({ controllers, handlers });
  assert.equal(found.of(made('vm')).name, 'pause');
  assert.equal(found.of(made('gone')).name, 'pinned');
});
