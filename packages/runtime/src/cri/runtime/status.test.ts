import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StatusRequest } from '@podwright/cri';
import type { CallContext } from '@podwright/grpc';
import { status } from './status.ts';

const NOT_READY = { ready: false, reason: 'Because', message: 'of something' } as const;

test('each Status condition has the current result, and the reason if it is false', async () => {
  const conditionsOf = async (runtime: object, network: object) => {
    const facts = {
      ...{ recursiveReadOnlyHandlers: new Set(), userNamespaceHandlers: new Set(), info: {} },
      readiness: async () => runtime,
    };
    const services = {
      ...{ facts, network: { status: async () => network }, controllers: { handlers: () => [''] } },
      ready: { count: 0, onNetworkStatus: () => undefined },
    };
    const answer = await status(services as never)({ verbose: false } as StatusRequest, {} as CallContext);
    return answer.status?.conditions?.map(({ type, status: met, reason, message }) => [type, met, reason, message]);
  };
  const met = (type: string) => [type, true, '', ''];
  const unmet = (type: string) => [type, false, 'Because', 'of something'];
  const ready = { ready: true };
  assert.deepEqual(await conditionsOf(ready, ready), [met('RuntimeReady'), met('NetworkReady')]);
  assert.deepEqual(await conditionsOf(NOT_READY, ready), [unmet('RuntimeReady'), met('NetworkReady')]);
  assert.deepEqual(await conditionsOf(ready, NOT_READY), [met('RuntimeReady'), unmet('NetworkReady')]);
});
